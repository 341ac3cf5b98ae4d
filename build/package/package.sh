#!/usr/bin/env bash
# package.sh [DIR] makes the packages of this version in DIR (build/out): a .deb, an AppDir and the AppImage of it, a tar.gz of the program
# without its window, and a list of what is in them (CycloneDX). The same source gives the same bytes: every
# file has the time of the commit (or SOURCE_DATE_EPOCH), and no path of the machine is in any program.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$(mkdir -p "${1:-$root/build/out}" && cd "${1:-$root/build/out}" && pwd)
cd "$root"
umask 022
export LC_ALL=C TZ=UTC

version=${VERSION_OF_BUILD:-$(build/version.sh)}
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y VERSION)}
export SOURCE_DATE_EPOCH=$epoch
deb_arch=$(dpkg --print-architecture)
arch=$(uname -m)

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

# ---- Programs -----------------------------------------------------------------------------------------------------------

flags=(-trimpath -buildvcs=false)
# Where this build may be asked to look for newer releases, and by whose key; without them it asks nobody.
ldflags="-s -w -buildid= -X main.version=$version -X 'main.updateAddress=${UPDATE_ADDRESS:-}' -X 'main.updateKey=${UPDATE_KEY:-}'"
mkdir -p "$stage/bin"
CGO_ENABLED=1 go build "${flags[@]}" -ldflags "$ldflags" -tags desktop,production,webkit2_41 -o "$stage/bin/termic" .
CGO_ENABLED=0 go build "${flags[@]}" -ldflags "$ldflags" -tags headless,page -o "$stage/bin/termic-headless" .
CGO_ENABLED=0 go build "${flags[@]}" -ldflags "-s -w -buildid=" -o "$stage/bin/termic-cage" ./sandbox/cmd/termic-cage

# words makes what is made of the table of verbs: the manual page and the completion of shells.
words() {
  local to=$1
  install -d "$to/man/man1" "$to/bash-completion/completions" "$to/zsh/vendor-completions" "$to/fish/vendor_completions.d"
  "$stage/bin/termic-headless" help --man | gzip -n9 >"$to/man/man1/termic.1.gz"
  "$stage/bin/termic-headless" completion bash >"$to/bash-completion/completions/termic"
  "$stage/bin/termic-headless" completion zsh >"$to/zsh/vendor-completions/_termic"
  "$stage/bin/termic-headless" completion fish >"$to/fish/vendor_completions.d/termic.fish"
}

# desktop makes what a desktop reads.
desktop() {
  install -Dm 644 build/linux/termic.desktop "$1/applications/termic.desktop"
  install -Dm 644 build/linux/termic.svg "$1/icons/hicolor/scalable/apps/termic.svg"
}

settle() { find "$1" -depth -exec touch --no-dereference --date="@$epoch" {} +; }

# ---- .deb ---------------------------------------------------------------------------------------------------------------

deb=$stage/deb
install -Dm 755 -t "$deb/usr/bin" "$stage/bin/termic" "$stage/bin/termic-cage"
install -Dm 644 build/linux/termic-cage.apparmor "$deb/etc/apparmor.d/termic-cage"
words "$deb/usr/share"
desktop "$deb/usr/share"
install -Dm 644 LICENSE "$deb/usr/share/doc/termic/copyright"
gzip -n9 <CHANGELOG.md >"$deb/usr/share/doc/termic/changelog.gz"

# dpkg-shlibdeps reads which packages have the libraries that the program was linked with; it wants a source tree around it.
mkdir -p "$stage/source/debian"
printf 'Source: termic\n\nPackage: termic\nArchitecture: any\n' >"$stage/source/debian/control"
libraries=$(cd "$stage/source" && dpkg-shlibdeps -O "$deb/usr/bin/termic" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || { echo 'package: the libraries of the program could not be read' >&2; exit 1; }

# A version of Debian has no "-" in it but before the package's own number, and sorts "~" before all.
install -d "$deb/DEBIAN"
cat >"$deb/DEBIAN/control" <<EOF
Package: termic
Version: $(printf %s "$version" | tr -- '-' '~')
Architecture: $deb_arch
Maintainer: The Termic developers <termic@localhost>
Installed-Size: $(du -sk --apparent-size "$deb/usr" "$deb/etc" | awk '{n += $1} END {print n}')
Depends: $libraries, git
Recommends: xdg-utils
Section: devel
Priority: optional
Description: run coding agents side by side, each in a git worktree of its own
 Termic hosts the terminals of coding agents such as Claude Code and Codex, puts
 them in a cage if wished, and lets them drive each other through one port and one
 token. Whatever the window does, the command line does too.
EOF
echo /etc/apparmor.d/termic-cage >"$deb/DEBIAN/conffiles"
install -m 755 build/package/postinst "$deb/DEBIAN/postinst"
install -m 755 build/package/postrm "$deb/DEBIAN/postrm"
(cd "$deb" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$deb/DEBIAN/md5sums"
settle "$deb"
dpkg-deb --root-owner-group -Zxz --build "$deb" "$out/termic_${version}_$deb_arch.deb" >/dev/null

# ---- tar.gz of the program without its window ---------------------------------------------------------------------------

name=termic-headless-$version-linux-$arch
bare=$stage/$name
install -Dm 755 "$stage/bin/termic-headless" "$bare/termic"
install -m 755 "$stage/bin/termic-cage" "$bare/termic-cage"
words "$bare/share"
install -Dm 644 -t "$bare" LICENSE README.md CHANGELOG.md SECURITY.md build/linux/termic-cage.apparmor
settle "$bare"
tar --create --directory "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" "$name" | gzip -n9 >"$out/$name.tar.gz"

# ---- AppDir and AppImage ------------------------------------------------------------------------------------------------

appdir=$out/Termic.AppDir
rm -rf "$appdir"
install -Dm 755 -t "$appdir/usr/bin" "$stage/bin/termic" "$stage/bin/termic-cage"
words "$appdir/usr/share"
desktop "$appdir/usr/share"
install -Dm 644 build/linux/termic-cage.apparmor "$appdir/usr/share/termic/termic-cage.apparmor" # for whoever installs the helper by hand
install -m 755 build/package/AppRun "$appdir/AppRun"
cp build/linux/termic.desktop build/linux/termic.svg "$appdir/"
ln -s termic.svg "$appdir/.DirIcon"
settle "$appdir"
rm -f "$out"/*.AppImage
appimage=$out/Termic-$version-$arch.AppImage
build/package/seal.sh "$appdir" "$appimage" "$version"

# ---- What is in them ----------------------------------------------------------------------------------------------------

go run -buildvcs=false ./build/sbom -version "$version" -lock frontend/package-lock.json \
  "$stage/bin/termic" "$stage/bin/termic-headless" "$stage/bin/termic-cage" "$appimage" >"$out/termic-$version.cdx.json"
(cd "$out" && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' ! -name 'latest.json*' ! -name allowed_signers -printf '%P\n' | sort | xargs -d '\n' sha256sum >SHA256SUMS)
cat "$out/SHA256SUMS"
