#!/usr/bin/env bash
# kernels.sh boots other kernels in a virtual machine and runs the tests of the cage in there, as root and as a user, and those of a home on NFS.
#
#   build/kernels.sh            the kernels below
#   build/kernels.sh 6.1        one of them
#
# The kernels are Debian's, fetched once (60 MB) by apt-get into the user's cache and unpacked there; none is installed.
# What cannot be run is skipped, in capitals, with the reason; KERNELS_MUST=1 makes that a failure. KERNELS_MINUTES bounds
# each machine, KERNELS_STEPS chooses what runs (cage limits sandbox layers attack apparmor network), KERNELS_KEEP=DIR keeps the logs.
# The profile of AppArmor needs a parser of 4.0 or newer: from apt-get where that has one, or from KERNELS_APPARMOR=DIR, where
# such packages (apparmor, libc6, libstdc++6, libgcc-s1) are unpacked. KERNELS_FLAVOUR=amd64 takes the kernels for real
# machines (120 MB more), which have more in them to attack.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A kernel's series, and the ABI of Landlock that must be found in it. What follows a dash is how it is booted.
declare -A landlock=([6.1]=2 [6.12]=6 [6.1-without-landlock]=0)
series=("$@")
[ $# -gt 0 ] || series=(6.1 6.12 6.1-without-landlock)
steps=${KERNELS_STEPS:-cage limits sandbox layers attack apparmor network}
minutes=${KERNELS_MINUTES:-45}
cache="${XDG_CACHE_HOME:-$HOME/.cache}/termic-kernels"

# Programs of this machine that the tests run in the virtual one.
programs=(sh bash cat chmod chown cp cut date dirname echo env expr false find grep head hostname id ip ln ls mkdir mknod
  modprobe mount mv ps readlink rm sed seq setpriv setsid sleep sort stat stty switch_root tail touch tr true tty umount
  uname uniq wc xargs git insmod)

work= machine= results=()
cleanup() {
  [ -z "$machine" ] || kill "$machine" 2>/dev/null || true
  [ -z "$work" ] || rm -rf "$work"
}
trap cleanup EXIT

say() { printf 'kernels: %s\n' "$*"; }

# skip WHAT WHY
skip() {
  printf '\nkernels: SKIPPED, NOT TESTED: %s: %s\n\n' "$1" "$2" >&2
  [ -z "${KERNELS_MUST:-}" ] || exit 1
}

# package SERIES: the newest package of a series that the lists know. The kernel for clouds is the smaller one.
package() {
  local flavour found
  for flavour in ${KERNELS_FLAVOUR:-cloud-amd64 amd64}; do
    found=$(apt-cache pkgnames "linux-image-$1." | grep -E "^linux-image-${1//./\\.}\.[0-9+a-z.-]*-$flavour\$" | grep -vE -- '-(rt|unsigned|dbg)' |
      { [ "$flavour" = amd64 ] && grep -v cloud || cat; } | sort -V | tail -n 1) || true
    [ -z "$found" ] || { echo "$found"; return; }
  done
  return 1
}

# fetch_kernel PACKAGE: prints the folder where it is unpacked.
fetch_kernel() {
  local version dir new
  version=$(apt-cache show --no-all-versions "$1" | sed -n 's/^Version: //p')
  dir="$cache/$1_${version//[^A-Za-z0-9.+~-]/_}"
  if [ ! -e "$dir/complete" ]; then
    say "fetching $1 $version" >&2
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/.new-XXXXXX")
    if ! (cd "$new" && apt-get download --quiet "$1" && dpkg-deb -x ./*.deb . && rm ./*.deb && depmod -b "$new" "$(ls lib/modules)" && touch complete) >&2; then
      rm -rf "$new"
      return 1
    fi
    rm -rf "$dir"
    mv "$new" "$dir"
  fi
  echo "$dir"
}

# fetch_parser: prints a folder with a parser of AppArmor that knows our profile, and with its libraries.
fetch_parser() {
  local version dir new
  [ -z "${KERNELS_APPARMOR:-}" ] || { echo "$KERNELS_APPARMOR"; return; }
  version=$(apt-cache show --no-all-versions apparmor | sed -n 's/^Version: //p')
  dpkg --compare-versions "${version:-0}" ge 4.0 || return 1
  dir="$cache/apparmor_${version//[^A-Za-z0-9.+~-]/_}"
  if [ ! -e "$dir/complete" ]; then
    new=$(mktemp -d "$cache/.new-XXXXXX")
    if ! (cd "$new" && apt-get download --quiet apparmor libc6 libstdc++6 libgcc-s1 && for deb in ./*.deb; do dpkg-deb -x "$deb" .; done && rm ./*.deb && touch complete) >&2; then
      rm -rf "$new"
      return 1
    fi
    rm -rf "$dir"
    mv "$new" "$dir"
  fi
  echo "$dir"
}

# put ROOT PROGRAM...: copies programs and the libraries that they load.
put() {
  local root=$1 name path file
  shift
  for name in "$@"; do
    path=$(PATH="$PATH:/usr/sbin:/sbin" command -v -p "$name" || type -P "$name" || PATH=/usr/sbin:/sbin type -P "$name") || { say "this machine has no $name" >&2; return 1; }
    case $path in /*) ;; *) path=$(type -P "$name") ;; esac # a word that the shell has built in
    for file in "$path" $( (ldd "$path" 2>/dev/null || true) | grep -oE '/[^ ]+'); do
      [ ! -e "$root$file" ] || continue
      mkdir -p "$root${file%/*}"
      cp -L "$file" "$root$file"
    done
  done
}

# tree ROOT: the folders of a system, with /bin and its like as links.
tree() {
  local d
  mkdir -p "$1"/{usr/bin,usr/sbin,usr/lib,usr/lib64,dev,proc,sys,run,tmp,etc,home,root,opt,var/tmp,var/lib,disk,modules}
  for d in bin sbin lib lib64; do ln -s "usr/$d" "$1/$d"; done
}

# build_tests: the test programs, once for all kernels.
build_tests() {
  mkdir "$work/kernels"
  cp build/kernels/guest.sh "$work/kernels/"
  export CGO_ENABLED=0
  local p
  for p in attack cage; do
    nice go test -c -tags headless -o "$work/kernels/$p" "./sandbox/$p"
    nice go test -c -tags headless,weakcage -o "$work/kernels/$p-weak" "./sandbox/$p"
  done
  nice go test -c -tags headless -o "$work/kernels/sandbox" ./sandbox
  mkdir "$work/kernels/bin" # not beside the tests, which would take it for theirs
  nice go build -tags headless -o "$work/kernels/bin/termic-cage" ./sandbox/cmd/termic-cage
  if [[ " $steps " = *" network "* ]]; then
    nice go test -c -tags headless -o "$work/kernels/e2e" ./internal/e2e
    nice go build -tags headless -o "$work/kernels/bin/termic" .
    nice go build -tags headless -o "$work/kernels/bin/fakeagent" ./internal/fakeagent
    cp build/kernels/server.sh "$work/kernels/"
    if type -P mksquashfs >/dev/null; then # an AppImage that says that it was started, to be unpacked into a home on the network
      mkdir "$work/appdir"
      printf '#!/bin/sh\necho "started from $APPDIR"\n' >"$work/appdir/AppRun"
      chmod 755 "$work/appdir/AppRun"
      build/package/seal.sh "$work/appdir" "$work/kernels/small.AppImage" 1
    else
      skip 'an AppImage on a home on NFS' 'this machine has no mksquashfs'
    fi
  fi
  mkdir "$work/kernels/src"
  cp build/linux/termic-cage.apparmor "$work/kernels/"
  local parser d
  if [[ " $steps " = *" apparmor "* ]]; then
    if parser=$(fetch_parser); then
      for d in usr/lib/x86_64-linux-gnu usr/sbin etc/apparmor.d/abi etc/apparmor.d/tunables; do
        mkdir -p "$work/kernels/parser/$d"
        cp -a "$parser/$d/." "$work/kernels/parser/$d/"
      done
    else
      skip 'the profile of AppArmor' 'the parser that this distribution offers is older than 4.0'
      steps=${steps/apparmor/}
    fi
  fi
}

# write_steps LANDLOCK: what guest.sh runs. As root, the program attack runs everything as a user too.
write_steps() {
  local limit=-test.timeout=$((minutes - 3))m name
  printf 'TERMIC_TEST_LANDLOCK=%s TERMIC_TEST_LIMITS="cgroup v2" TERMIC_ATTACK_WEAK=/kernels/attack-weak\n' "$1"
  for name in $steps; do
    case $name in
      cage)
        echo "step cage-as-root root \$app /kernels/cage -test.v $limit -test.skip TestAsUser"
        echo "step cage-as-user user \$app /kernels/cage -test.v $limit" ;;
      limits) echo "TERMIC_TEST_LIMITS=rlimit step limits-of-a-user user /sys/fs/cgroup /kernels/cage -test.v $limit -test.run Limit" ;;
      sandbox)
        for who in root user; do echo "step sandbox-as-$who $who \$app /kernels/sandbox -test.v -test.short $limit"; done ;;
      layers)
        echo "step layers-cage user \$app /kernels/cage-weak -test.v $limit -test.run Layer"
        echo "step layers-attack root \$app /kernels/attack -test.v $limit -test.run TestEveryLayerIsNeeded" ;;
      attack) echo "step attack root \$app /kernels/attack -test.v $limit -test.run 'TestAttack|Swapped|Row|Sound'" ;;
      apparmor) echo "apparmor_steps $limit" ;;
      network) echo "network_steps $limit" ;;
      *) say "no step is called $name" >&2; return 1 ;;
    esac
  done
}

# build_disk KERNEL-DIR RELEASE LANDLOCK: $work/disk and $work/first.
build_disk() {
  local root="$work/root" first="$work/initial" mods="$1/lib/modules/$2" m f how
  rm -rf "$root" "$first"
  tree "$root"
  put "$root" "${programs[@]}"
  cp -a "$(git --exec-path)" "$work/git-core"
  mkdir -p "$root$(git --exec-path)"
  cp -a "$work/git-core/." "$root$(git --exec-path)/"
  rm -rf "$work/git-core"
  put "$root" git-receive-pack git-upload-pack 2>/dev/null || true
  mkdir -p "$root/etc/ssh" "$root/usr/share/git-core" "$root/usr/lib/modules"
  printf 'root:x:0:0:root:/root:/bin/sh\nuser:x:1500:1500:user:/home/user:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\nuser:x:1500:\n' >"$root/etc/group"
  printf '127.0.0.1 localhost kernels\n::1 localhost\n' >"$root/etc/hosts"
  mkdir -p "$root"/usr/local/{bin,lib} "$root"/var/spool/cron "$root/var/lib/dpkg"
  echo 'made up for a test' >"$root/root/.profile"
  for f in shadow sudoers ssh/ssh_host_ed25519_key; do # nothing but what the tests look for
    printf 'made up for a test\n' >"$root/etc/$f"
    chmod 600 "$root/etc/$f"
  done
  cp -aL /usr/share/git-core/templates "$root/usr/share/git-core/"
  cp -a "$mods" "$root/usr/lib/modules/"
  cp -a "$work/kernels" "$root/kernels"
  write_steps "$3" >"$root/kernels/steps"
  rm -f "$work/disk"
  truncate -s 3G "$work/disk"
  mke2fs -q -t ext4 -m 0 -d "$root" "$work/disk"

  tree "$first"
  put "$first" sh mkdir mount insmod chown switch_root
  local n=100
  for m in virtio_pci virtio_blk crc32c_generic ext4; do # in the order in which they need one another, as numbers in their names
    while read -r how f _; do
      [ "$how" != insmod ] || cp "$f" "$first/modules/$((n++))-${f##*/}"
    done < <(modprobe -d "$1" -S "$2" --show-depends "$m" || true)
  done
  cp build/kernels/first.sh "$first/init"
  chmod 755 "$first/init"
  (cd "$first" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$work/first"
  rm -rf "$root" "$first"
}

# kvm: whether the machine runs on the processor itself. A virtual machine may have the device and no such processor; what is booted by it never
# says a word.
kvm() { [ -w /dev/kvm ] && grep -qE '^flags.* (vmx|svm)( |$)' /proc/cpuinfo; }

# boot KERNEL-DIR RELEASE ARGUMENTS: 0 when the machine came to its end within its time.
boot() {
  local fast=(-accel "tcg,thread=multi,tb-size=512") end
  ! kvm || fast=(-accel kvm -cpu host)
  : >"$work/report"
  nice -n 10 qemu-system-x86_64 "${fast[@]}" -smp 2 -m 2G -nodefaults -no-user-config -no-reboot -display none \
    -kernel "$1/boot/vmlinuz-$2" -initrd "$work/first" -append "console=ttyS0 panic=-1 loglevel=5 no_timer_check $3" \
    -drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" -serial "file:$work/console" -serial "file:$work/report" </dev/null &
  machine=$!
  end=$((SECONDS + minutes * 60))
  while kill -0 "$machine" 2>/dev/null; do
    if [ $SECONDS -ge $end ]; then
      kill "$machine" || true
      wait "$machine" || true
      machine=
      return 1
    fi
    sleep 2
  done
  wait "$machine" || true
  machine=
  grep -q '^END' "$work/report"
}

# fact NAME
fact() { sed -n "s/^FACT $1 //p" "$work/report"; }

# count WORD: the tests with that outcome, those that a test ran in another process included.
count() { grep -cE "^ *--- $1: " "$work/report" || true; }

# judge SERIES RELEASE ENDED: a line of the summary, and what was not good.
judge() {
  local bad=0 abi rows
  grep -E '^DONE [^ ]+ [1-9-]' "$work/report" && bad=1
  [ "$3" = yes ] || { bad=1; say "$1: the machine did not come to its end in $minutes minutes; its last words:"; tail -n 15 "$work/console" "$work/report"; }
  [ "$(count FAIL)" = 0 ] || bad=1
  [ "$(count PASS)" -gt 0 ] || bad=1
  local want; want=$(grep -c '^STEP ' "$work/report" || true)
  [ "$want" = "$(grep -cE '^DONE [^ ]+ 0 ' "$work/report" || true)" ] || bad=1
  if [ $bad = 1 ]; then
    grep -E '^ *--- FAIL|^ *[a-z_]+\.go:[0-9]+: |^panic|^\*\*\*' "$work/report" | grep -vE 'NOT COUNTED|rows,' | head -n 150 || true
  fi
  grep -E 'rows, |NOT TRIED|APPARMOR|DONE ' "$work/report" | sed 's/^ *[a-z_]*\.go:[0-9]*://; s/^/    /' || true
  abi=$(grep -oE 'Landlock [0-9]+, processes by "[^"]*", memory by "[^"]*"' "$work/report" | sort -u | head -n 1)
  results+=("$(printf '%-40s %-62s %4s passed %3s failed %3s skipped  %s' "$2${1#"${1%%-*}"}" "${abi:-?}" "$(count PASS)" "$(count FAIL)" "$(count SKIP)" "$([ $bad = 0 ] && echo good || echo BAD)")")
  [ $bad = 0 ]
}

# main is read as a whole before it runs, so that the script may be edited meanwhile.
main() {
  [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || { skip 'all kernels' 'this is written for Linux on amd64'; exit 0; }
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { skip 'all kernels' 'there is no apt-get to fetch them with'; exit 0; }
  build/setup/packages.sh kernels || { skip 'all kernels' 'what the virtual machine needs could not be installed'; exit 0; }
  export PATH="$PATH:/usr/sbin:/sbin"
  work=$(mktemp -d "${TMPDIR:-/tmp}/termic-kernels-XXXXXX")
  build_tests
  failed=0
  for s in "${series[@]}"; do
    [ -n "${landlock[$s]:-}" ] || { say "no kernel $s is known here"; exit 1; }
    how=
    [[ $s != *-without-landlock ]] || { how=lsm=lockdown,yama,apparmor; steps=attack; } # the other tests are not written for it
    if ! name=$(package "${s%%-*}") || ! dir=$(fetch_kernel "$name"); then
      skip "Linux $s" 'this distribution offers no such kernel, or it could not be fetched (apt-get update?)'
      results+=("$(printf '%-28s SKIPPED' "$s")")
      continue
    fi
    release=$(ls "$dir/lib/modules")
    build_disk "$dir" "$release" "${landlock[$s]}"
    say "booting Linux $release, $(kvm && echo with KVM || echo 'without KVM, which is slow'); at most $minutes minutes"
    ended=no
    ! boot "$dir" "$release" "$how" || ended=yes
    [ -z "${KERNELS_KEEP:-}" ] || { mkdir -p "$KERNELS_KEEP" && cp "$work/report" "$KERNELS_KEEP/$s.report" && cp "$work/console" "$KERNELS_KEEP/$s.console"; }
    judge "$s" "$release" "$ended" || failed=1
  done
  printf '\nkernels:\n'
  printf '  %s\n' "${results[@]}"
  exit $failed
}

main
