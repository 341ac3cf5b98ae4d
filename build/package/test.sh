#!/usr/bin/env bash
# test.sh makes the packages twice, in two folders and at two times, and compares every byte; then it installs or unpacks each of them and
# starts what is in it. What this machine cannot do is said in capitals. It changes nothing outside of a temporary folder: packages are
# installed into a layer over the system that only this test sees.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export LC_ALL=C TZ=UTC
unset TERMIC_DATA_DIR
work=$(mktemp -d)
pids=()
cleanup() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT
step() { printf '== %s\n' "$*"; }
fail() { printf 'FAIL: %s\n' "$*" >&2; exit 1; }
untested() { printf 'NOT TESTED: %s\n' "$*"; }

# until CONDITION ... waits up to a minute for a command to succeed.
until_true() {
  for _ in $(seq 600); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  fail "it never came true: $*"
}

step 'the same source gives the same bytes'
for n in first second; do
  git clone --quiet "$root" "$work/$n"
  cp -r "$root/frontend/node_modules" "$work/$n/frontend/node_modules"
  (cd "$work/$n" && touch frontend/node_modules/.installed && npm --prefix frontend run --silent build >/dev/null &&
    build/package/package.sh "$work/out-$n" >/dev/null)
  sleep 2
done
if [ -n "$(git -C "$root" status --porcelain)" ]; then untested 'what is not committed: the packages were made from the last commit'; fi
diff "$work/out-first/SHA256SUMS" "$work/out-second/SHA256SUMS" || fail 'two builds differ'
diff -r "$work/out-first/Termic.AppDir" "$work/out-second/Termic.AppDir" || fail 'two AppDirs differ'
out=$work/out-first
for f in "$out"/*; do
  if grep -rqF "$work" "$f" || grep -rqF "$root/" "$f"; then fail "$f names a folder of this machine"; fi
done

step 'sizes'
"$here/sizes.sh" "$out" | "$root/bench/write.sh" packages

step 'the archive without a window: unpacked, started, asked, ended'
tar --extract --gzip --file "$out"/termic-headless-*.tar.gz --directory "$work"
bare=$(echo "$work"/termic-headless-*/)
export HOME=$work/home
mkdir -p "$HOME/repo"
git -C "$HOME/repo" init -q -b main
git -C "$HOME/repo" -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m first
export TERMIC_DATA_DIR=$work/data
mkdir -m 700 "$TERMIC_DATA_DIR"
printf '[[agents]]\nid = "sh"\nname = "A shell"\ncommand = "/bin/sh"\nargs = ["-c", "echo inside; exec sleep 1000"]\n' >"$TERMIC_DATA_DIR/settings.toml"
"$bare/termic" serve --web-addr 127.0.0.1:0 >"$work/serve.out" 2>"$work/serve.err" &
pids+=($!)
until_true grep -q '^termic: ready' "$work/serve.out"
"$bare/termic" health >/dev/null
"$bare/termic" doctor | sed 's/^/   /' | head -20
url=$(grep -ho 'https://[^ ]*' "$work/serve.out" "$work/serve.err" | head -1)
curl --silent --insecure "$url" | grep -q '<title>' || fail "there is no page at $url"
"$bare/termic" project add "$HOME/repo" >/dev/null
if "$bare/termic" doctor | grep -q 'cage: files and network  can be enforced'; then
  "$bare/termic" new caged --project repo --agent sh --sandbox enforce >/dev/null
  until_true sh -c '"$1/termic" logs caged | grep -q inside' - "$bare"
else
  untested 'a cage of the package: this machine cannot make one'
fi
"$bare/termic" quit --commit >/dev/null
wait "${pids[-1]}" || fail 'serve ended badly'

step 'it opens no connection of its own'
if command -v strace >/dev/null; then
  rm -rf "$TERMIC_DATA_DIR"
  mkdir -m 700 "$TERMIC_DATA_DIR"
  printf '[mcp]\nenabled = true\n' >"$TERMIC_DATA_DIR/settings.toml"
  strace --follow-forks --quiet=all --trace=connect,sendto,sendmsg --output="$work/trace" "$bare/termic" serve >"$work/serve.out" 2>&1 &
  pids+=($!)
  until_true grep -q '^termic: ready' "$work/serve.out"
  sleep 20
  "$bare/termic" quit --commit >/dev/null
  wait "${pids[-1]}" || true
  if grep -E 'AF_INET6?' "$work/trace"; then fail 'it spoke to somebody'; fi
else
  untested 'that nothing is sent: there is no strace'
fi

step 'with the look for newer releases off, and on without an address, it asks nobody either'
if command -v strace >/dev/null; then
  for words in 'check = false\naddress = "https://127.0.0.1:9/latest.json"\nkey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB"' 'check = true'; do
    rm -rf "$TERMIC_DATA_DIR"
    mkdir -m 700 "$TERMIC_DATA_DIR"
    printf "[updates]\n$words\n" >"$TERMIC_DATA_DIR/settings.toml"
    strace --follow-forks --quiet=all --trace=connect,sendto,sendmsg --output="$work/trace" "$bare/termic" serve >"$work/serve.out" 2>&1 &
    pids+=($!)
    until_true grep -q '^termic: ready' "$work/serve.out"
    sleep 5
    ! "$bare/termic" update --now >/dev/null 2>&1 || fail 'it says that it asked'
    "$bare/termic" quit --commit >/dev/null
    wait "${pids[-1]}" || true
    if grep -E 'AF_INET6?' "$work/trace"; then fail "with $words it spoke to somebody"; fi
  done
fi

step 'the words of shells and the manual page'
PATH=$bare:$PATH
bash --norc -c '. "$1/share/bash-completion/completions/termic"; COMP_WORDS=(termic new x --sandbox enf); COMP_CWORD=4; _termic; [ "${COMPREPLY[*]}" = "enforce-fs enforce" ]' - "$bare" || fail 'bash does not complete'
for shell in zsh fish; do command -v $shell >/dev/null || untested "$shell is not here"; done
! command -v fish >/dev/null || [ "$(fish --no-config -c 'source $argv[1]; complete -C"termic new x --sandbox enf" | sort | string join " "' "$bare/share/fish/vendor_completions.d/termic.fish")" = 'enforce enforce-fs' ] || fail 'fish does not complete'
! command -v zsh >/dev/null || [ "$(zsh -fc 'autoload -Uz compinit; compinit -D -u; source "$1"; compadd() { print -r -- $@[-2] $@[-1] }; words=(termic new x --sandbox enf); CURRENT=5; _termic' - "$bare/share/zsh/vendor-completions/_termic")" = 'enforce-fs enforce' ] || fail 'zsh does not complete'
if command -v man >/dev/null; then
  [ -z "$(man --warnings --local-file "$bare/share/man/man1/termic.1.gz" 2>&1 >"$work/page")" ] || fail 'the manual page has mistakes'
  grep -q 'termic new \[NAME\]' "$work/page" || fail 'the manual page says nothing of termic new'
else
  untested 'the manual page: there is no man'
fi

step 'the .deb: installed, started as a user, removed'
desktop-file-validate "$root/build/linux/termic.desktop"
if [ "$(id -u)" = 0 ]; then
  mkdir "$work/layer"
  export OUT=$out LAYER=$work/layer HERE=$here
  unshare --mount --propagation private bash -euo pipefail "$here/installed.sh"
else
  untested 'installing: only root can lay a layer over the system. Run it with sudo'
fi

step 'the AppDir: its window on a virtual display'
"$here/window.sh" "$out/Termic.AppDir/AppRun"

step 'the AppImage: sealed, started, used, as root and as a user'
appimage=$(echo "$out"/*.AppImage)
unsquashfs -quiet -no-progress -offset "$("$appimage" --appimage-offset)" -dest "$work/sealed" "$appimage" >/dev/null
diff -r "$out/Termic.AppDir" "$work/sealed" || fail 'the AppImage holds another AppDir'
(mkdir "$work/extracted" && cd "$work/extracted" && "$appimage" --appimage-extract >/dev/null)
diff -r "$out/Termic.AppDir" "$work/extracted/squashfs-root" || fail 'the AppImage unpacks another AppDir'
env HOME="$work/home" "$appimage" version | grep -q . || fail 'the AppImage knows no version'
"$here/window.sh" "$appimage"
if [ "$(id -u)" = 0 ]; then
  public=$(mktemp -d) # what is in $work is closed to users
  cp "$appimage" "$here/window.sh" "$public/"
  chmod -R a+rX "$public"
  install -d -o 1500 -g 1500 "$public/tmp"
  setpriv --reuid 1500 --regid 1500 --clear-groups env -i PATH="$PATH" LC_ALL=C TMPDIR="$public/tmp" bash "$public/window.sh" "$public/${appimage##*/}" || fail 'the AppImage does not work for a user'
  rm -rf "$public"
fi
cp "$appimage" "$work/damaged.AppImage"
printf x >>"$work/damaged.AppImage"
if env HOME="$work/other" "$work/damaged.AppImage" version >"$work/said" 2>&1 || ! grep -q 'is damaged' "$work/said"; then fail 'a damaged AppImage is started'; fi

step 'the list of what is in them, and the signature'
python3 - "$out"/*.cdx.json <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
names = {c["name"] for c in d["components"]}
missing = {"modernc.org/sqlite", "github.com/wailsapp/wails/v2", "@xterm/xterm", "svelte", "go"} - names
assert d["bomFormat"] == "CycloneDX" and not missing, missing
assert all(c["hashes"] for c in d["components"] if c["type"] == "library"), "a part without a sum"
EOF
ssh-keygen -q -t ed25519 -N '' -C '' -f "$work/key"
"$here/sign.sh" "$work/key" "$out" >/dev/null
ssh-keygen -Y verify -f "$out/allowed_signers" -I termic -n termic-feed -s "$out/latest.json.sig" <"$out/latest.json" >/dev/null || fail 'the feed is not signed'
if ssh-keygen -Y verify -f "$out/allowed_signers" -I termic -n termic-release -s "$out/latest.json.sig" <"$out/latest.json" >/dev/null 2>&1; then fail 'the feed passes for checksums'; fi
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["version"] in sys.argv[2] and d["made"] < d["until"]' "$out/latest.json" "$(ls "$out"/*.cdx.json)"
echo x >>"$out/termic-headless"* || true
if (cd "$out" && sha256sum --quiet --check SHA256SUMS >/dev/null 2>&1); then fail 'a changed package passes'; fi
sed -i 's/^./0/' "$out/SHA256SUMS"
if (cd "$out" && ssh-keygen -Y verify -f allowed_signers -I termic -n termic-release -s SHA256SUMS.sig <SHA256SUMS >/dev/null 2>&1); then fail 'changed checksums pass'; fi

step 'macOS'
for f in Info.plist entitlements.plist; do python3 -c 'import plistlib, sys; plistlib.load(open(sys.argv[1], "rb"))' "$root/build/darwin/$f"; done
bash -n "$root/build/darwin/package.sh"
untested 'the macOS package: it needs a Mac'
echo 'the packages hold'
