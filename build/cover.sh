#!/usr/bin/env bash
# cover.sh runs the tests of the packages that carry authority and prints how many of their statements were run: one table, and exit code 1
# below the goal. The statements of a package count whichever of these tests runs them. Files for other systems are not compiled, so they
# do not count.
#
# What runs inside a cage ends without a word to anybody, so the two halves of a cage are measured by verdicts: every row of the attack
# table, in every mode. The part outside is shown for information.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
goal=${1:-90}
gated=(internal/grant internal/verb internal/inlet internal/netgroup mcp clientsetup
  sandbox sandbox/hosts sandbox/proxy sandbox/registry sandbox/seatbelt sandbox/cage/wire)
shown=(sandbox/cage)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CGO_ENABLED=0

list() { printf './%s\n' "$@" | paste -sd,; }
run() { go test -count=1 -vet=off -tags headless "$@" 2>&1 | tee "$dir/out" | grep -vE '^ok |^\s+termic/|no test files' || true
  ! grep -q '^FAIL' "$dir/out"; }

run -coverpkg="$(list "${gated[@]}" "${shown[@]}")" -coverprofile="$dir/1" "${gated[@]/#/./}"
# A program that is measured prints a warning when it ends, on the terminal that TestTyping reads; TestAsUser starts the same tests.
run -coverpkg="$(list "${shown[@]}" sandbox/cage/wire)" -coverprofile="$dir/2" -skip '^TestTyping$|^TestAsUser$' "${shown[@]/#/./}"
verdicts=$(go test -count=1 -vet=off -tags headless -run '^TestAttackAs' -v ./sandbox/attack | tee "$dir/out" |
  sed -nE 's/.* ([a-z+-]+: [0-9]+ of [0-9]+ rows have a verdict)$/\1/p' | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)/\2 (\1 users)/') ||
  { grep -E -- 'FAIL|must be|verdicts' "$dir/out"; exit 1; }

printf '\n| package | statements | covered | goal |\n| --- | ---: | ---: | ---: |\n'
cat "$dir"/[12] | awk -v goal="$goal" -v shown=" ${shown[*]} " -v order="${gated[*]} ${shown[*]}" '
  $1 == "mode:" { next }
  { file = $1; sub(/:.*/, "", file); sub(/^[^\/]*\//, "", file); sub(/\/[^\/]*$/, "", file)
    if (!($1 in size)) { size[$1] = $2; pkg[$1] = file }
    if ($3 > 0) run[$1] = 1 }
  END {
    for (b in size) { all[pkg[b]] += size[b]; if (b in run) hit[pkg[b]] += size[b] }
    n = split(order, names, " ")
    for (i = 1; i <= n; i++) {
      p = names[i]; percent = all[p] ? 100 * hit[p] / all[p] : 0
      free = index(shown, " " p " ") > 0
      printf "| %s | %d | %.1f %% | %s |\n", p, all[p], percent, free ? "by verdicts" : goal " %"
      if (!free && percent < goal) bad = bad " " p
    }
    if (bad) { printf "\nbelow %d %%:%s\n", goal, bad; exit 1 }
  }' || failed=1
printf '\n%s\n' "$verdicts"
exit "${failed:-0}"
