#!/usr/bin/env bash
# toolchain.sh go|node ... makes sure that each named toolchain can be used.
#
# A program that is found on PATH and is new enough is taken as it is. Otherwise the pinned official
# archive goes into .tools/NAME (TOOLS_DIR moves it), which the Makefile puts first on PATH. Nothing is
# installed outside that folder. Running it again when all is there takes a few milliseconds.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=build/setup/pins.sh
. "$here/pins.sh"
# shellcheck source=build/setup/lib.sh
. "$here/lib.sh"
tools=${TOOLS_DIR:-$root/.tools}

scratch= # where a download lies until it is unpacked
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT

# found_go prints the version that a build in this repository would use. Go 1.21 and newer may fetch a
# newer toolchain by themselves when go.mod asks for it (GOTOOLCHAIN).
found_go() {
  command -v go >/dev/null || return 1
  local v
  v=$(cd "$root" && go env GOVERSION 2>/dev/null) || return 1
  echo "${v#go}"
}

# found_node prints Node's version if npm is there as well: some distributions ship one without the other.
found_node() {
  command -v node >/dev/null && command -v npm >/dev/null || return 1
  node -p process.versions.node 2>/dev/null
}

# node_fits: 20.19 and newer, without the releases between that the frontend's build tool leaves out.
node_fits() {
  at_least "$1" "$NODE_NEEDED" || return 1
  case $1 in 21.*) return 1 ;; 22.*) at_least "$1" 22.12.0 ;; esac
}

go_fits() { at_least "$1" "$GO_NEEDED"; }

# bring NAME VERSION URL SHA256: download, check, unpack, and point .tools/NAME at it.
bring() {
  local name=$1 version=$2 url=$3 sum=$4
  command -v curl >/dev/null || command -v wget >/dev/null || "$here/packages.sh" download
  mkdir -p "$tools"
  exec 9>"$tools/.lock"
  flock 9
  if [ ! -d "$tools/$name-$version" ]; then
    say "downloading $name $version into $tools"
    scratch=$(mktemp -d "$tools/download.XXXXXX")
    fetch "$url" "$sum" "$scratch/archive.tar.gz"
    unpack_as "$scratch/archive.tar.gz" "$tools/$name-$version"
    rm -rf "$scratch"
  fi
  ln -sfn "$name-$version" "$tools/$name"
  exec 9>&-
}

ensure_go() {
  PATH=$tools/go/bin:$PATH
  local have sum arch
  if have=$(found_go) && go_fits "$have"; then return; fi
  say "Go is ${have:-missing}; $GO_NEEDED or newer is needed"
  arch=$(machine_arch)
  case $arch in amd64) sum=$GO_SHA256_AMD64 ;; arm64) sum=$GO_SHA256_ARM64 ;; esac
  bring go "$GO_VERSION" "$GO_BASE_URL/go$GO_VERSION.linux-$arch.tar.gz" "$sum"
}

ensure_node() {
  PATH=$tools/node/bin:$PATH
  local have sum arch
  if have=$(found_node) && node_fits "$have"; then return; fi
  say "Node with npm is ${have:-missing}; $NODE_NEEDED or newer is needed"
  arch=$(machine_arch)
  case $arch in
    amd64) sum=$NODE_SHA256_AMD64 arch=x64 ;;
    arm64) sum=$NODE_SHA256_ARM64 arch=arm64 ;;
  esac
  bring node "$NODE_VERSION" "$NODE_BASE_URL/v$NODE_VERSION/node-v$NODE_VERSION-linux-$arch.tar.gz" "$sum"
}

for name in "$@"; do
  case $name in
    go) ensure_go ;;
    node) ensure_node ;;
    *) fail "no toolchain is called $name" "use: toolchain.sh go node" ;;
  esac
done
