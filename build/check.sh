#!/usr/bin/env bash
# check.sh runs every check that is not a test, all of them even after one has failed, and ends with a
# list of those that did.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
window=desktop,production,webkit2_41
failed=()

step() {
  local name=$1
  shift
  printf -- '-- %s\n' "$name"
  "$@" || failed+=("$name")
}

formatted() {
  local out
  out=$(git ls-files -co --exclude-standard '*.go' | xargs -r gofmt -l -s) || return 1
  [ -z "$out" ] || { printf 'not formatted (gofmt -s -w):\n%s\n' "$out"; return 1; }
}

# packages that build without the window; app has files for both, so it is in this list as well.
vet_for() { GOOS=$1 CGO_ENABLED=0 go vet -tags headless ./...; }

tree_sums() { git ls-files -co --exclude-standard -z | xargs -0 sha256sum 2>/dev/null | sort -k 2; }

# generated writes every generated file again and fails if that changed one.
generated() {
  local before after
  before=$(tree_sums)
  make --no-print-directory gen || return 1
  after=$(tree_sums)
  [ "$before" = "$after" ] && return
  echo 'these generated files were stale; they are fresh now, look at the difference and commit it:'
  diff <(echo "$before") <(echo "$after") | sed -nE 's/^[<>] [0-9a-f]+ +//p' | sort -u
  return 1
}

shells() {
  local f status=0
  while read -r f; do bash -n "$f" || status=1; done < <(git ls-files -co --exclude-standard '*.sh' .ci/run)
  return "$status"
}

step 'gofmt' formatted
step 'shell scripts parse' shells
step 'go mod verify' go mod verify
step 'generated files' generated
step 'go vet, headless' env CGO_ENABLED=0 go vet -tags headless ./...
step 'go vet, window' env CGO_ENABLED=1 go vet -tags "$window" . ./app/...
step 'go vet, test bridge' env CGO_ENABLED=0 go vet -tags headless,testbridge ./app/...
step 'go vet, darwin' vet_for darwin
step 'go vet, windows' vet_for windows
step 'staticcheck, headless' env CGO_ENABLED=0 go tool staticcheck -tags headless ./...
step 'staticcheck, window' env CGO_ENABLED=1 go tool staticcheck -tags "$window" . ./app/...
step 'layers, sizes, names, tree' env CGO_ENABLED=0 go test -count=1 -tags headless ./internal/archtest
step 'frontend lint' npm --prefix frontend run --silent lint
step 'frontend types' npm --prefix frontend run --silent check

[ ${#failed[@]} -eq 0 ] || { printf '\ncheck: failed: %s\n' "${failed[@]}" >&2; exit 1; }
echo 'check: all is well'
