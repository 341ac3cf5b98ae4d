#!/usr/bin/env bash
# e2e-clients.sh runs the tests of internal/e2eclients with the real Claude Code and Codex. It downloads both once, about
# 800 MB, into the user's cache. Arguments go to `go test`, for example: build/e2e-clients.sh -run TestDelivery50
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The versions that the recipes in internal/agent are held to. This is the one place that names them.
claude=@anthropic-ai/claude-code@2.1.332
codex=@openai/codex@0.171.0
# Bridges from standard input and output to HTTP, for clients that know nothing else.
bridges=(mcp-remote@0.15.1 supergateway@4.0.0)

name="clients-claude-${claude##*@}-codex-${codex##*@}"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/termic-e2e"
dir="$cache/$name"

# works says whether a program of a folder runs; a platform without a build of it fails here, not in a test.
works() { "$1/node_modules/.bin/$2" --version >/dev/null 2>&1; }

if ! { [ -e "$dir/complete" ] && works "$dir" claude && works "$dir" codex; }; then
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/.new-XXXXXX")
  trap 'rm -rf "$new"' EXIT
  printf 'downloading %s and %s (about 800 MB, once)\n' "$claude" "$codex"
  npm install --prefix "$new" --no-fund --no-audit --loglevel error "$claude" "$codex"
  # claude puts its program in place by a script that some settings of npm do not run.
  works "$new" claude || node "$new/node_modules/@anthropic-ai/claude-code/install.cjs"
  for program in claude codex; do
    works "$new" "$program" || { printf '%s does not run here\n' "$program" >&2; exit 1; }
  done
  touch "$new/complete"
  rm -rf "$dir"
  mv "$new" "$dir"
  trap - EXIT
fi

# In a folder of their own: they are small, and another version of one is no reason to fetch the programs again.
bridge_dir="$cache/bridges-$(printf '%s-' "${bridges[@]}" | tr -d '/')"
if ! [ -e "$bridge_dir/complete" ]; then
  mkdir -p "$bridge_dir"
  printf 'downloading %s\n' "${bridges[*]}"
  npm install --prefix "$bridge_dir" --no-fund --no-audit --loglevel error "${bridges[@]}"
  touch "$bridge_dir/complete"
fi

TERMIC_E2E_BRIDGES="$bridge_dir/node_modules/.bin" TERMIC_E2E_CLIENTS="$dir/node_modules/.bin" CGO_ENABLED=0 \
  go test -tags headless,clients -count=1 -timeout "${TIMEOUT:-90m}" "$@" ./internal/e2eclients
