# shellcheck shell=bash
# Words and small steps that the set-up scripts share. Sourced, never run.

say() { printf 'set-up: %s\n' "$*" >&2; }

# fail MESSAGE HINT: one sentence for what is wrong, one for what to do about it.
fail() {
  printf 'set-up: error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'set-up: hint: %s\n' "$2" >&2
  exit 1
}

# at_least HAVE WANT: compares dotted numbers; what follows them in HAVE (rc1, -pre) is left out.
at_least() {
  local have=${1%%[!0-9.]*} want=$2
  [ "$(printf '%s\n%s\n' "$want" "$have" | sort -V | head -n 1)" = "$want" ]
}

# machine_arch: the name that Go gives to this processor.
machine_arch() {
  case $(uname -m) in
    x86_64 | amd64) echo amd64 ;;
    aarch64 | arm64) echo arm64 ;;
    *) fail "no pinned download for the processor $(uname -m)" \
      "install Go $GO_NEEDED and Node $NODE_NEEDED or newer by hand and run make again" ;;
  esac
}

# fetch URL SHA256 FILE: FILE exists afterwards only if its bytes have that checksum. Plain http is
# taken from the loopback address alone.
fetch() {
  local url=$1 want=$2 file=$3 got part
  case $url in
    https://* | http://127.0.0.1:*) ;;
    *) fail "refusing to download $url" "use an https address" ;;
  esac
  part=$file.part
  rm -f "$part"
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --proto-redir '=https' --connect-timeout 30 \
      --speed-limit 1024 --speed-time 60 --output "$part" "$url" || rm -f "$part"
  elif command -v wget >/dev/null; then
    wget --quiet --tries=1 --timeout=60 --output-document="$part" "$url" || rm -f "$part"
  else
    fail "neither curl nor wget is here to download with" "install one of them and run make again"
  fi
  [ -s "$part" ] || { rm -f "$part"; fail "the download of $url failed or was cut off" "check the connection and run make again"; }
  got=$(sha256sum "$part")
  got=${got%% *}
  if [ "$got" != "$want" ]; then
    rm -f "$part"
    fail "$url has the checksum $got, and $want was expected: nothing of it was used" \
      "run make again; if it repeats, the server or something on the way changes the file"
  fi
  mv "$part" "$file"
}

# unpack_as ARCHIVE DIR: a tar.gz with one folder at its top becomes DIR in one step, so that a
# broken-off unpacking never looks like a finished one.
unpack_as() {
  local archive=$1 dir=$2 tmp=$2.unpacking
  rm -rf "$tmp"
  mkdir -p "$tmp"
  tar -xzf "$archive" -C "$tmp" --strip-components=1 --no-same-owner
  rm -rf "$dir"
  mv "$tmp" "$dir"
}
