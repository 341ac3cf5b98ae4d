#!/usr/bin/env bash
# seal.sh APPDIR FILE puts an AppDir behind the runtime of an AppImage, which makes it one file that can be started. The runtime is nobody's
# package, so whoever releases names one (APPIMAGE_RUNTIME), and what its bytes must be (APPIMAGE_RUNTIME_SHA256): otherwise the same source
# would not give the same bytes. The time of the file system is SOURCE_DATE_EPOCH.
set -euo pipefail
appdir=$1 file=$2
if [ -z "${APPIMAGE_RUNTIME_SHA256:-}" ] || ! echo "$APPIMAGE_RUNTIME_SHA256  $APPIMAGE_RUNTIME" | sha256sum --check --status; then
  echo "seal: the runtime $APPIMAGE_RUNTIME is not the one that APPIMAGE_RUNTIME_SHA256 says" >&2
  exit 1
fi
payload=$(mktemp -d)
trap 'rm -rf "$payload"' EXIT
# What a runtime reads in any case is gzip.
mksquashfs "$appdir" "$payload/squashfs" -root-owned -no-xattrs -no-progress -quiet -comp gzip >/dev/null
cat "$APPIMAGE_RUNTIME" "$payload/squashfs" >"$file"
chmod 755 "$file"
