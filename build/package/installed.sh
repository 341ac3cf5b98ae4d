#!/usr/bin/env bash
# installed.sh installs the .deb of $OUT in a layer over the system, in a mount namespace of its own, uses it as a user, and removes it.
set -euo pipefail
mount -t tmpfs -o mode=755 termic-test "$LAYER"
mkdir "$LAYER/upper" "$LAYER/work" "$LAYER/root"
mount -t overlay -o "lowerdir=/,upperdir=$LAYER/upper,workdir=$LAYER/work" overlay "$LAYER/root"
for d in proc sys dev; do mount --rbind "/$d" "$LAYER/root/$d"; done
mount -t tmpfs -o mode=1777 tmp "$LAYER/root/tmp"
cp "$OUT"/*.deb "$LAYER/root/tmp/termic.deb"
cat >"$LAYER/root/tmp/inside.sh" <<'EOF'
set -euo pipefail
unset HOME TERMIC_DATA_DIR
dpkg --install /tmp/termic.deb >/dev/null || { echo 'FAIL: it cannot be installed'; dpkg --install /tmp/termic.deb; exit 1; }
[ -z "$(dpkg --verify termic)" ]
useradd --create-home tester
cat >/tmp/user.sh <<'EOU'
set -euo pipefail
cd
termic version
git init -q repo -b main
git -C repo -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m first
termic serve >serve.out 2>serve.err &
pid=$!
for _ in $(seq 300); do ! grep -q '^termic: ready' serve.out || break; sleep 0.1; done
termic project add repo >/dev/null
termic new one --project repo --no-agent >/dev/null
for _ in $(seq 300); do ! termic status one --json | grep -q '"state":"live"' || break; sleep 0.1; done
termic status one --json | grep -q '"state":"live"'
termic doctor | grep -i cage | head -3 || true
termic quit --commit >/dev/null
wait $pid
EOU
setpriv --reuid tester --regid tester --init-groups env -i HOME=/home/tester PATH=/usr/bin:/bin USER=tester bash /tmp/user.sh
man -w termic >/dev/null
grep -q '^MimeType=x-scheme-handler/termic;$' /usr/share/applications/termic.desktop
dpkg --purge termic >/dev/null 2>&1
! command -v termic && [ ! -e /etc/apparmor.d/termic-cage ] && [ ! -e /usr/share/doc/termic ]
[ -d /home/tester/.local/share/termic ] # what is the user's stays
EOF
chroot "$LAYER/root" bash /tmp/inside.sh
