#!/bin/sh
# guest.sh is the first program on the disk of the virtual machine. It sets up what a distribution would have, runs the tests
# that lie in /kernels, and ends the machine. What it finds goes to the second serial line, which the host reads:
#
#   FACT name value...
#   STEP name, the test program's own words, then DONE name exit-code seconds
#   END
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C TERM=dumb
user=1500 # as in the tests

exec 3>/dev/ttyS1
stty -F /dev/ttyS1 raw -echo
say() { echo "$*" >&3; }

# over ends the machine at once. The disk is thrown away anyhow.
over() {
  say END
  sync
  sleep 1
  echo 1 >/proc/sys/kernel/sysrq
  echo b >/proc/sysrq-trigger
  sleep 60
}
trap over EXIT

mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run
mount -t securityfs security /sys/kernel/security
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t debugfs debug /sys/kernel/debug 2>/dev/null
chmod 1777 /tmp /var/tmp
ln -sf /proc/self/fd /dev/fd
ip link set lo up
# An address that is not loopback, on a wire that leads nowhere.
modprobe dummy numdummies=1 && ip link set dummy0 up && ip address add 10.73.0.2/24 dev dummy0
hostname kernels 2>/dev/null || echo kernels >/proc/sys/kernel/hostname
echo '0 2147483647' >/proc/sys/net/ipv4/ping_group_range # as systemd does
# A machine may allow it still, and then a cage must hold it.
[ ! -e /proc/sys/dev/tty/legacy_tiocsti ] || echo 1 >/proc/sys/dev/tty/legacy_tiocsti
for module in overlay fuse tun loop vsock af_alg sctp dccp_ipv4 tipc rds smc l2tp_ip; do modprobe -q "$module"; done

# A part of the tree of control groups that belongs to the user, as systemd delegates it.
group=/sys/fs/cgroup/user
mkdir -p $group/app
echo '+pids +memory' >/sys/fs/cgroup/cgroup.subtree_control
echo '+pids +memory' >$group/cgroup.subtree_control
chown -R $user:$user $group

say FACT kernel "$(uname -r)"
say FACT lsm "$(cat /sys/kernel/security/lsm)"
say FACT cgroup "$(cat $group/cgroup.subtree_control)"
say FACT memory "$(sed -n 's/^MemTotal: *//p' /proc/meminfo)"

# step NAME WHO GROUP PROGRAM ARGUMENT...: WHO is root or user, GROUP is the group to be in.
step() {
  name=$1 who=$2 in=$3
  shift 3
  say STEP "$name"
  begin=$(date +%s)
  as=
  [ "$who" = root ] || as="setpriv --reuid=$user --regid=$user --clear-groups --inh-caps=-all"
  mkdir -p "/home/$name"
  [ "$who" = root ] || chown $user:$user "/home/$name"
  ( # a process of its own, for the group
    echo "$(exec sh -c 'echo $PPID')" >"$in/cgroup.procs"
    cd /kernels/src && exec env HOME="/home/$name" $as "$@"
  ) >&3 2>&1 </dev/null
  say DONE "$name" $? $(($(date +%s) - begin))
}

# apparmor_steps LIMIT: the helper where AppArmor restricts namespaces, without its profile and with it.
apparmor_steps() {
  switch=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
  grep -q apparmor /sys/kernel/security/lsm || { say "APPARMOR NOT TESTED: it is not among the security modules"; return; }
  cp /kernels/bin/termic-cage /usr/bin/termic-cage
  state=loaded
  if [ -e $switch ]; then
    echo 1 >$switch
    state=profiled
    TERMIC_TEST_APPARMOR=bare step apparmor-without-profile user $app /kernels/cage -test.v "$1" -test.run 'TestAppArmor$'
  else
    say "APPARMOR: this kernel cannot keep namespaces from programs without a profile, so only that the helper works under it is tested"
  fi
  lib=/kernels/parser/usr/lib/x86_64-linux-gnu
  : >/etc/apparmor-parser.conf
  step apparmor-parser root $app $lib/ld-linux-x86-64.so.2 --library-path $lib /kernels/parser/usr/sbin/apparmor_parser \
    --config-file /etc/apparmor-parser.conf -r -K -T -b /kernels/parser/etc/apparmor.d /kernels/termic-cage.apparmor
  say "APPARMOR $(cat /sys/kernel/security/apparmor/profiles)"
  TERMIC_TEST_APPARMOR=$state step apparmor-with-profile user $app /kernels/cage -test.v "$1" -test.run 'TestAppArmor$'
  [ $state = loaded ] || echo 0 >$switch
}

# network_steps LIMIT: the app of somebody whose home is on NFS, from a server on this machine.
network_steps() {
  if ! modprobe -q nfsd || ! modprobe -q nfsv4; then
    say "NETWORK NOT TRIED: this kernel has no NFS"
    return
  fi
  mkdir -p /export/root /export/user /net /var/lib/nfs/v4recovery
  chown $user:$user /export/user
  mount -t nfsd nfsd /proc/fs/nfsd
  sh /kernels/server.sh start
  # The kernel's own way to mount, without the program for it. It waits for the server for ever, as homes are mounted, and believes what it has seen
  # of a file for one second.
  step network-mount root $app mount -i -t nfs4 -o vers=4.2,hard,actimeo=1,addr=127.0.0.1,clientaddr=127.0.0.1 127.0.0.1:/ /net
  if [ -e /kernels/small.AppImage ]; then
    for try in first second; do step network-appimage-$try user $app env HOME=/net/user /kernels/small.AppImage; done
  fi
  export TERMIC_TEST_PROGRAMS=/kernels/bin
  TERMIC_TEST_SERVER=/kernels/server.sh TERMIC_TEST_NETWORK=/net/root TERMIC_TEST_SERVED=/export/root \
    step network-home-of-root root $app /kernels/e2e -test.v "$1" -test.run '^TestNetHome'
  TERMIC_TEST_NETWORK=/net/user TERMIC_TEST_SERVED=/export/user step network-home-of-a-user user $app /kernels/e2e -test.v "$1" -test.run '^TestNetHome'
}

app=$group/app
export TERMIC_TEST_LANDLOCK TERMIC_TEST_LIMITS TERMIC_TEST_APPARMOR TERMIC_ATTACK_WEAK
. /kernels/steps
