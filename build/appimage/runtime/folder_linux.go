package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const cacheName = "termic-appimage"

// cacheFolder makes the folder for what is unpacked, closed to others, and returns it with links followed. It refuses one that somebody
// else could have filled or could exchange: another user's, one that others may write, or one below such a folder. Who is the user that runs.
func cacheFolder(getenv func(string) string, who int) (string, error) {
	parent := getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(parent) { // the base directory specification ignores relative ones
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", said("There is no home folder to unpack Termic into. Set HOME, or XDG_CACHE_HOME, to a folder of yours.")
		}
		parent = filepath.Join(home, ".cache")
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", otherCache("Termic cannot be unpacked: %w", err)
	}
	parent, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return "", otherCache("Termic cannot be unpacked: %w", err)
	}
	for dir := parent; ; dir = filepath.Dir(dir) {
		if err := trusted(dir, who, true); err != nil {
			return "", err
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	base := filepath.Join(parent, cacheName)
	if err := os.Mkdir(base, 0o700); err != nil && !os.IsExist(err) {
		return "", otherCache("Termic cannot be unpacked: %w", err)
	}
	return base, trusted(base, who, false)
}

// otherCache adds the way out.
func otherCache(format string, args ...any) error {
	return said(format+". Give it another folder, that is yours alone: XDG_CACHE_HOME=/path/of/a/folder. Or unpack it yourself with --appimage-extract, and start squashfs-root/AppRun.", args...)
}

// trusted refuses a folder that somebody else than who and root can change. above is a folder in which another one of a known name is looked for:
// there a sticky bit keeps others from exchanging it, and a group of the user's own may write.
func trusted(dir string, who int, above bool) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return otherCache("Termic cannot be unpacked: %w", err)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok || !st.IsDir() {
		return otherCache("Termic is not unpacked in %s, which is no folder", dir)
	}
	owner, mode := int(sys.Uid), st.Mode()
	if owner != who && (!above || owner != 0 && !unmapped(owner)) {
		return otherCache("Termic is not unpacked in %s, which belongs to another user (%d)", dir, owner)
	}
	open := mode.Perm() & 0o022
	if above && int(sys.Gid) == os.Getegid() {
		open &^= 0o020
	}
	if open != 0 && (!above || mode&fs.ModeSticky == 0) {
		return otherCache("Termic is not unpacked in %s, which others may write (its mode is %04o)", dir, mode.Perm())
	}
	return nil
}

// unmapped tells whether an owner is what the kernel says for users that a user namespace does not know: in one without root, folders of
// the system look like that. In the first namespace it is an ordinary user.
func unmapped(owner int) bool {
	text, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(text)) != strconv.Itoa(owner) {
		return false
	}
	all, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(all)), " ") != "0 0 4294967295"
}
