package datadir

import "golang.org/x/sys/unix"

// network names the network file system that a folder is on; empty: none.
func network(path string) string {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil || st.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(st.Fstypename[:])
}
