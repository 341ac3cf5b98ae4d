#!/usr/bin/env bash
# window-test.sh runs the main job in the real window, on a virtual display of its own.
#
# The window is built with the tag e2e, which lets a WebDriver take it over and is in no other build. The
# tests get its path in TERMIC_WINDOW, the driver's in TERMIC_WEBDRIVER, and a display without a person.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

window=$PWD/build/bin/termic-e2e
CGO_ENABLED=1 go build -ldflags "-X main.version=$(build/version.sh)" \
  -tags desktop,production,webkit2_41,e2e -o "$window" .

driver=$(command -v WebKitWebDriver) || { echo 'window-test: WebKitWebDriver is missing; run make setup-test' >&2; exit 1; }

# Xvfb takes a free display number and tells it when it is ready to serve.
ready=$(mktemp)
Xvfb -displayfd 3 -screen 0 1440x900x24 -nolisten tcp 3>"$ready" 2>/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -f "$ready"' EXIT
for _ in $(seq 100); do
  [ ! -s "$ready" ] || break
  kill -0 "$server" 2>/dev/null || { echo 'window-test: the virtual display did not start' >&2; exit 1; }
  sleep 0.1
done
[ -s "$ready" ] || { echo 'window-test: the virtual display is not ready after 10 s' >&2; exit 1; }

number=$(cat "$ready")
export DISPLAY=:$number TERMIC_WINDOW=$window TERMIC_WEBDRIVER=$driver
export WEBKIT_DISABLE_DMABUF_RENDERER=1 # there is no graphics card behind this display
unset WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
"$@"
