#!/usr/bin/env bash
# fuzz.sh [TIME] runs every fuzz target of the tree for TIME (30s), one after another. Targets are found
# by their name in the sources, so that a new one cannot be forgotten.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:-30s}
ran=0
failed=()
while IFS=: read -r file name; do
  dir=./$(dirname "$file")
  echo "fuzz $dir $name ($time)"
  CGO_ENABLED=0 go test -tags headless -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 20x "$dir" || failed+=("$dir $name")
  ran=$((ran + 1))
done < <(git ls-files -co --exclude-standard '*_test.go' | xargs -r grep -oE '^func Fuzz[A-Za-z0-9_]+' /dev/null | sed 's/func //' | sort -u)
[ "$ran" -gt 0 ] || { echo 'fuzz: no target was found' >&2; exit 1; }
echo "fuzz: $ran targets, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ] || { printf '  %s\n' "${failed[@]}" >&2; exit 1; }
