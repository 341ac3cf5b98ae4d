#!/usr/bin/env bash
# package.sh [DIR] makes Termic.app for both kinds of Mac, on a Mac, in DIR (build/out). It was written from the documentation of its tools
# and has not been run: see docs/install.md.
#
#   IDENTITY  name of a signing identity; without one the app is signed for this machine only
#   NOTARY    name of a profile that `xcrun notarytool store-credentials` keeps; without one it is not notarised
set -euo pipefail
[ "$(uname)" = Darwin ] || { echo 'package: Termic.app can be made on a Mac only' >&2; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
out=$(mkdir -p "${1:-build/out}" && cd "${1:-build/out}" && pwd)
version=$(build/version.sh)
app=$out/Termic.app
rm -rf "$app"
mkdir -p "$app/Contents/MacOS" "$app/Contents/Resources"

npm --prefix frontend ci
npm --prefix frontend run build
for arch in arm64 amd64; do
  GOARCH=$arch CGO_ENABLED=1 go build -trimpath -buildvcs=false -tags desktop,production \
    -ldflags "-s -w -buildid= -X main.version=$version" -o "$out/termic-$arch" .
done
lipo -create -output "$app/Contents/MacOS/termic" "$out/termic-arm64" "$out/termic-amd64"
rm "$out/termic-arm64" "$out/termic-amd64"
sed "s/VERSION/$version/" build/darwin/Info.plist >"$app/Contents/Info.plist"
plutil -lint "$app/Contents/Info.plist"

set -- 16 32 128 256 512
icons=$(mktemp -d)/termic.iconset
mkdir -p "$icons"
for size; do
  sips -s format png -z "$size" "$size" build/linux/termic.svg --out "$icons/icon_${size}x$size.png" >/dev/null
  sips -s format png -z $((size * 2)) $((size * 2)) build/linux/termic.svg --out "$icons/icon_${size}x$size@2x.png" >/dev/null
done
iconutil --convert icns --output "$app/Contents/Resources/termic.icns" "$icons"

codesign --force --options runtime --timestamp --entitlements build/darwin/entitlements.plist --sign "${IDENTITY:--}" "$app"
codesign --verify --strict --verbose=2 "$app"
ditto -c -k --keepParent "$app" "$out/Termic-$version.zip"
if [ -n "${NOTARY:-}" ]; then
  xcrun notarytool submit "$out/Termic-$version.zip" --keychain-profile "$NOTARY" --wait
  xcrun stapler staple "$app"
  ditto -c -k --keepParent "$app" "$out/Termic-$version.zip"
fi
