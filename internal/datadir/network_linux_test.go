package datadir

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"termic/internal/fault"
)

// TestNetworkHasTheKernelsNumbers: those that a library has too.
func TestNetworkHasTheKernelsNumbers(t *testing.T) {
	for number, want := range map[uint32]string{unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB",
		unix.AFS_SUPER_MAGIC: "AFS", unix.AFS_FS_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda", unix.CEPH_SUPER_MAGIC: "Ceph",
		unix.V9FS_MAGIC: "", unix.EXT4_SUPER_MAGIC: "", unix.FUSE_SUPER_MAGIC: "", unix.TMPFS_MAGIC: ""} {
		if got := networks[number]; got != want {
			t.Errorf("%#x: %q, want %q", number, got, want)
		}
	}
}

// TestNotOnNetwork: the words for one that is, and nothing for a local folder. The real thing is tried in a virtual machine (make test-kernels).
func TestNotOnNetwork(t *testing.T) {
	if kind := network(t.TempDir()); kind != "" {
		t.Errorf("this machine's temporary folder is on %s", kind)
	}
	if kind := network("/nowhere/at/all"); kind != "" {
		t.Errorf("a folder that is not there is on %s", kind)
	}
	f := fault.From(notOnNetwork("/home/u/.local/share/termic", "NFS"))
	if f.Code != fault.Unavailable || !strings.Contains(f.Message, "/home/u/.local/share/termic is on a network file system (NFS)") || !strings.Contains(f.Hint, EnvVar) {
		t.Errorf("%s: %s %s", f.Code, f.Message, f.Hint)
	}
	if err := notOnNetwork("/x", ""); err != nil {
		t.Error(err)
	}
}
