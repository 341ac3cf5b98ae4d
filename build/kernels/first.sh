#!/bin/sh
# first.sh is the first program of the virtual machine: it loads what the disk needs, and goes on with guest.sh on the disk.
PATH=/usr/bin:/usr/sbin
mkdir -p /proc /sys /dev /disk
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev

for module in /modules/*; do insmod "$module" 2>/dev/null; done # one that is for other processors, or there twice, fails
mount -t ext4 -o rw /dev/vda /disk || exit 1 # and the kernel ends the machine

# What is on the disk was put there by a user of the host.
chown -R 0:0 /disk
mount --move /proc /disk/proc
mount --move /sys /disk/sys
mount --move /dev /disk/dev
exec switch_root /disk /bin/sh /kernels/guest.sh
