#!/bin/sh
# server.sh start|stop serves /export as NFS 4 to this machine, or ends the server as one that goes down: what it knew of its clients is what
# it wrote down. The programs that usually answer the kernel's questions (who is that client, what may it see) are not needed: the
# answers are given before it asks. Their form is that of the kernel's Documentation/filesystems/nfs/rpc-cache.rst and of fs/nfsd/export.c.
set -e
nfsd=/proc/fs/nfsd
case $1 in
  stop)
    echo 0 >$nfsd/threads
    ;;
  start)
    for_ever=2147483647
    # Any user may be root, whatever the port, whole file systems, under the number 0: 0x2402.
    echo "nfsd 127.0.0.1 $for_ever *" >/proc/net/rpc/auth.unix.ip/channel
    echo "* /export $for_ever 9218 65534 65534 0" >/proc/net/rpc/nfsd.export/channel
    printf '* 1 \\x00000000 %s /export\n' $for_ever >/proc/net/rpc/nfsd.fh/channel
    echo 10 >$nfsd/nfsv4leasetime 2>/dev/null || true # the least; while it runs it cannot be changed
    echo 10 >$nfsd/nfsv4gracetime 2>/dev/null || true
    echo '-3 +4 +4.1 +4.2' >$nfsd/versions 2>/dev/null || true
    echo 'tcp 2049' >$nfsd/portlist
    echo 8 >$nfsd/threads
    ;;
  *)
    echo 'server.sh: start or stop' >&2
    exit 64
    ;;
esac
