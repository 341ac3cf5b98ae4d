// Package squash reads the file systems that `make package` puts behind the runtime of an AppImage: squashfs 4.0, packed
// with zlib, as `mksquashfs -comp gzip -no-xattrs` writes them. The numbers and forms in it are those of the kernel's
// Documentation/filesystems/squashfs.rst and fs/squashfs/squashfs_fs.h.
//
// It reads folders, files and links, holes included. Other kinds of entry (devices, sockets, pipes), other compressions and
// attributes beside the mode are not read: the first two are an error, the last is passed over.
//
// It promises that no bytes, however they were made, lead it to panic, to loop, to take memory beyond a few blocks, or to
// name a path outside of the tree: an image is read before anybody can know who made it. It does not promise that what it
// reads is what was packed; whoever needs that compares a digest of the image first.
package squash
