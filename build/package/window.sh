#!/usr/bin/env bash
# window.sh PROGRAM starts the window of a package on a virtual display, an AppImage or the AppRun of a folder with what an AppImage sets around it,
# and looks at it from outside: it answers, it draws, it makes a cage where it can, and nothing in its terminals is of the AppImage: no variable, and
# no open file.
set -euo pipefail
program=$1
command -v Xvfb >/dev/null || { echo 'NOT TESTED: the window: there is no Xvfb'; exit 0; }
work=$(mktemp -d)
xvfb='' app=''
cleanup() {
  [ -z "$app" ] || kill "$app" 2>/dev/null || true
  [ -z "$app" ] || wait "$app" 2>/dev/null || true
  [ -z "$xvfb" ] || kill "$xvfb" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
mkfifo "$work/ready"
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>"$work/ready" 2>/dev/null &
xvfb=$!
read -r number <"$work/ready"
export HOME=$work/home TERMIC_DATA_DIR=$work/data DISPLAY=:$number WEBKIT_DISABLE_DMABUF_RENDERER=1
unset WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
mkdir -p "$HOME/repo"
mkdir -m 700 "$TERMIC_DATA_DIR"
printf '[[agents]]\nid = "sh"\nname = "A shell"\ncommand = "/bin/sh"\nargs = ["-c", "echo inside; exec sleep 1000"]\n' >"$TERMIC_DATA_DIR/settings.toml"
git -C "$HOME/repo" init -q -b main
git -C "$HOME/repo" -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m first
APPDIR=/appdir APPIMAGE=/appimage ARGV0=/argv0 OWD=/owd "$program" >"$work/log" 2>&1 &
app=$!
cli=$(dirname "$program")/usr/bin/termic
[ -x "$cli" ] || cli=$program # an AppImage is its own command line
for _ in $(seq 600); do ! "$cli" health >/dev/null 2>&1 || break; sleep 0.1; done
"$cli" project add "$HOME/repo" >/dev/null || { cat "$work/log"; exit 1; }
"$cli" new one --project repo --no-agent >/dev/null
for _ in $(seq 300); do ! "$cli" status one --json | grep -q '"state":"live"' || break; sleep 0.1; done
"$cli" tab one --kind shell >/dev/null
if "$cli" doctor | grep -q 'cage: files and network  can be enforced'; then
  "$cli" new caged --project repo --agent sh --sandbox enforce >/dev/null
  for _ in $(seq 300); do ! "$cli" logs caged 2>/dev/null | grep -q inside || break; sleep 0.1; done
  "$cli" logs caged | grep -q inside || { echo 'FAIL: no agent speaks in a cage' >&2; exit 1; }
else
  echo 'NOT TESTED: a cage of the package: this machine cannot make one'
fi
found=''
for p in /proc/[0-9]*; do
  around=$({ tr '\0' '\n' <"$p/environ"; } 2>/dev/null) || continue # it ended, or the kernel's own
  if grep -q '^TERMIC_TASK_ID=' <<<"$around"; then
    found=$p
    if find "$p/fd" -type l -printf '%l\n' 2>/dev/null | grep -F termic-appimage; then
      echo 'FAIL: a terminal has an open file of the AppImage' >&2
      exit 1
    fi
    if grep -E '^(APPDIR|APPIMAGE|ARGV0|OWD|LD_LIBRARY_PATH|GTK_[A-Z_]*|WEBKIT_[A-Z_]*)=' <<<"$around"; then
      echo 'FAIL: a terminal has the environment of the AppImage' >&2
      exit 1
    fi
  fi
done
[ -n "$found" ] || { echo 'FAIL: no terminal of the task was found' >&2; exit 1; }
if command -v import >/dev/null; then # of ImageMagick
  for _ in $(seq 100); do
    import -window root "$work/shot.png"
    colours=$(identify -format %k "$work/shot.png")
    [ "$colours" -lt 40 ] || break
    sleep 0.2
  done
  [ "$colours" -ge 40 ] || { echo "FAIL: the window shows $colours colours" >&2; exit 1; }
  [ -z "${PICTURE:-}" ] || cp "$work/shot.png" "$PICTURE"
fi
"$cli" quit --commit >/dev/null
wait "$app" || { echo "FAIL: the window ended with $?" >&2; exit 1; }
app=''
