#!/usr/bin/env bash
# packages.sh GROUP ... installs those of the group's system packages that are missing, with apt-get.
#
# Groups: download (what a download needs), headless (git), window (a C compiler, GTK and WebKit to
# build the window with), test (ssh keys to sign with, a virtual display, a WebDriver,
# Chromium, what makes an AppImage), pictures (the fonts of docs/pictures), package (what makes and looks at
# packages), bench (what is measured beside) and kernels (a virtual machine, and what is put into it). As root it installs
# straight away; otherwise through sudo, after saying what and asking if someone is there to ask.
# PACKAGES_DRY_RUN=1 only prints what it would install.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=build/setup/pins.sh
. "$here/pins.sh"
# shellcheck source=build/setup/lib.sh
. "$here/lib.sh"

# One word per package; a|b is whichever this distribution has, the first one preferred.
group() {
  case $1 in
    download) echo 'curl ca-certificates' ;;
    headless) echo 'git ca-certificates' ;;
    window) echo 'build-essential pkg-config git ca-certificates libgtk-3-dev libwebkit2gtk-4.1-dev' ;;
    test) echo 'openssh-client xvfb xauth webkit2gtk-driver dbus-daemon|dbus chromium imagemagick fonts-dejavu-core squashfs-tools' ;;
    pictures) echo 'imagemagick fonts-inter fonts-jetbrains-mono fonts-dejavu-core' ;;
    package) echo 'dpkg-dev desktop-file-utils man-db openssh-client zsh fish strace squashfs-tools squashfuse fuse3' ;;
    bench) echo 'bubblewrap socat' ;;
    kernels) echo 'qemu-system-x86 e2fsprogs kmod cpio iproute2 procps util-linux git xz-utils' ;;
    *) fail "no package group is called $1" "use: packages.sh download headless window test pictures package bench kernels" ;;
  esac
}

installed() { [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# a browser that is there already is as good as the package: on Ubuntu the package is only a pointer to
# a snap, which cannot be installed everywhere.
has_browser() {
  local b
  for b in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$b" >/dev/null && return
  done
  return 1
}

# missing prints those of the given packages that have to be installed, one choice per word.
missing() {
  local word one
  for word in "$@"; do
    [ "$word" != chromium ] || ! has_browser || continue
    for one in ${word//|/ }; do installed "$one" && continue 2; done
    echo "$word"
  done
}

# choose picks the first of a|b that the package lists know.
choose() {
  local word one
  for word in "$@"; do
    for one in ${word//|/ }; do
      if [ "$one" = "$word" ] || apt-cache show "$one" >/dev/null 2>&1; then echo "$one"; break; fi
    done
  done
}

# become_root fills the array `as_root` with what goes before a command that needs root.
become_root() {
  as_root=()
  [ "$(id -u)" != 0 ] || return 0
  command -v sudo >/dev/null || fail "installing packages needs root, and sudo is not here" \
    "as root, run: apt-get install --no-install-recommends $*"
  if [ -t 0 ] && [ -t 2 ]; then
    printf 'set-up: install them with sudo apt-get? [Y/n] ' >&2
    read -r answer
    case $answer in '' | [Yy]*) ;; *) fail "these packages are needed: $*" "install them and run make again" ;; esac
    as_root=(sudo)
  else
    sudo -n true 2>/dev/null || fail "installing packages needs a password, and nobody is here to type it" \
      "run: sudo apt-get install --no-install-recommends $*"
    as_root=(sudo -n)
  fi
}

# apt runs apt-get and waits for another one that is at work: it holds one of two locks, and the
# waiting option covers only the second on older systems.
apt() {
  local try
  for try in 1 2 3 4 5 6; do
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 --yes --quiet "$@" >&2 && return
    [ "$try" = 6 ] || sleep $((try * 5))
  done
  fail "apt-get $1 failed six times" "read its messages above; without a network, install the packages by hand"
}

words=()
for g in "$@"; do
  names=$(group "$g")
  read -r -a more <<<"$names"
  words+=("${more[@]}")
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  say "this system has no apt-get; on Debian these packages would be checked: ${words[*]}"
  exit 0
fi

mapfile -t need < <(missing "${words[@]}" | sort -u)
[ ${#need[@]} -gt 0 ] || exit 0
say "these packages are missing: ${need[*]}"
[ -z "${PACKAGES_DRY_RUN:-}" ] || exit 0
become_root "${need[@]%%|*}"
apt update
mapfile -t need < <(choose "${need[@]}")
apt install --no-install-recommends "${need[@]}"
