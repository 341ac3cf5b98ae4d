package cage

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// profiled is the path that our profile of AppArmor names.
const profiled = "/usr/bin/termic-cage"

// ownHelper is the helper of this program, or "": the one beside it, and where AppArmor lets only programs with a profile make a cage, the one
// that the profile names. An archive or an AppImage has its own somewhere in a home, where no profile may reach.
func ownHelper() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return pickHelper(filepath.Join(filepath.Dir(self), "termic-cage"), profiled, restricted())
}

// pickHelper chooses between the helper beside a program and the one of the profile.
func pickHelper(beside, profiled string, restricted bool) string {
	if restricted && system(profiled) {
		return profiled
	}
	if info, err := os.Stat(beside); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return ""
	}
	return beside
}

// system tells whether a program is the administrator's, and nobody else can change it.
func system(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 || info.Mode()&0o022 != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}

// restricted tells whether AppArmor keeps namespaces from programs without a profile.
func restricted() bool {
	b, err := os.ReadFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
	return err == nil && strings.TrimSpace(string(b)) == "1" && os.Getuid() != 0
}
