package datadir

import "golang.org/x/sys/unix"

// networks are the file systems whose files lie on another machine, by the number that statfs gives: those of the kernel's linux/magic.h, and
// of the systems' own headers where it has none. 9p is not among them: the root of some sandboxes and virtual machines is one, on the same machine.
// What FUSE has behind it nobody can say. For both the store tries whether it gets what it needs.
var networks = map[uint32]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "SMB", // cifs
	0xfe534d42: "SMB", // smb2
	0x5346414f: "AFS",
	0x6b414653: "AFS", // of the kernel's own client
	0x73757245: "Coda",
	0x00c36400: "Ceph",
	0x0bd00bd0: "Lustre",
	0x47504653: "GPFS",
	0x19830326: "BeeGFS",
}

// network names the network file system that a folder is on; empty: none that is known.
func network(path string) string {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return "" // whoever opens a file there will say why
	}
	return networks[uint32(st.Type)] // the low half: some machines extend its sign
}
