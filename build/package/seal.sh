#!/usr/bin/env bash
# seal.sh APPDIR FILE VERSION puts an AppDir behind a program that unpacks and starts it (build/appimage/runtime), which makes it one file, an
# AppImage. The program is linked with the digest of what comes behind it, so the file system is made first. The same AppDir gives the same
# bytes: its time is SOURCE_DATE_EPOCH.
set -euo pipefail
appdir=$(realpath "$1") file=$(realpath -m "$2") version=$3
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What the runtime reads, and every other reader of AppImages too, is gzip.
mksquashfs "$appdir" "$work/image" -root-owned -no-xattrs -no-progress -quiet -comp gzip >/dev/null
digest=$(sha256sum "$work/image" | cut -d' ' -f1)
CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version -X main.payload=$digest" -o "$work/runtime" ./build/appimage/runtime
CGO_ENABLED=0 go run -buildvcs=false ./build/appimage/seal -runtime "$work/runtime" -image "$work/image" -out "$file"
