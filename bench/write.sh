#!/usr/bin/env bash
# write.sh NAME passes on what it reads, and puts it into README.md between the two marks of NAME. If that is nothing, the page stays as it is.
set -euo pipefail
page=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/README.md
text=$(mktemp)
trap 'rm -f "$text" "$text.page"' EXIT
tee "$text"
grep -q '^|' "$text" || { echo "write: there is no table for $1" >&2; exit 1; }
awk -v from="<!-- $1: written by make bench -->" -v to="<!-- end of $1 -->" -v text="$text" '
  $0 == to { inside = 0; done = 1 }
  !inside { print }
  $0 == from { inside = 1; print ""; while ((getline line < text) > 0) print line; print "" }
  END { exit done ? 0 : 1 }' "$page" >"$text.page" || { echo "write: README.md has no place for $1" >&2; exit 1; }
cat "$text.page" >"$page"
