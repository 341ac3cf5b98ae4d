#!/usr/bin/env bash
# Prints the version that a build carries: the tag and the distance from it when git knows one, else
# the VERSION file with the commit's short name, else the VERSION file alone (a source archive).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
base=$(cat VERSION)
if described=$(git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null); then
  echo "${described#v}"
elif commit=$(git describe --always --dirty --match '' 2>/dev/null); then
  echo "$base+g$commit"
else
  echo "$base"
fi
