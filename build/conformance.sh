#!/usr/bin/env bash
# conformance.sh runs the public conformance suite of MCP, and the official TypeScript client, against the endpoint. It
# downloads both and a Node that runs them once, about 200 MB, into the user's cache. Arguments go to `go test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# This is the one place that names these versions. The suite needs a newer Node than the rest of the project.
suite=@modelcontextprotocol/conformance@0.2.0-alpha.12
client=@modelcontextprotocol/client@2.4.0
node=22

name="conformance-${suite##*@}-client-${client##*@}-node-$node"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/termic-e2e"
dir="$cache/$name"

if ! { [ -e "$dir/complete" ] && "$dir/node" --version >/dev/null 2>&1; }; then
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/.new-XXXXXX")
  trap 'rm -rf "$new"' EXIT
  printf 'downloading %s, %s and Node %s (about 200 MB, once)\n' "$suite" "$client" "$node"
  platform=$(node -p 'process.platform + "-" + process.arch')
  npm install --prefix "$new" --no-fund --no-audit --loglevel error "$suite" "$client" "node-$platform@$node"
  ln -s "node_modules/node-$platform/bin/node" "$new/node"
  "$new/node" --version >/dev/null || { printf 'Node %s does not run here\n' "$node" >&2; exit 1; }
  touch "$new/complete"
  rm -rf "$dir"
  mv "$new" "$dir"
  trap - EXIT
fi

TERMIC_CONFORMANCE="$dir" CGO_ENABLED=0 \
  go test -tags headless,conformance -count=1 -timeout "${TIMEOUT:-20m}" -run 'TestConformance|TestTypeScriptClient' "$@" ./mcp
