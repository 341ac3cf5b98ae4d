package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// lock waits for a lock on a file, which it makes, and returns what lets go of it. Where the file system has no locks there is none: folders are named when
// they are whole, so that two that unpack at once do harm to nobody.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return func() { _ = f.Close() }, nil
		}
	}
}

// hold takes a share of the lock of a folder for as long as this program runs, and whatever it becomes: the descriptor stays open. It tells
// whether the folder is there. Locks of folders are kept by the kernel of this machine, on a network file system too.
func hold(dir string) bool {
	for range 10 { // each time, the folder was exchanged while it waited
		fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
		if err != nil {
			return false
		}
		_ = syscall.Flock(fd, syscall.LOCK_SH) // without locks a newer version may remove it, and the next start unpacks it again
		var held, named syscall.Stat_t
		if syscall.Fstat(fd, &held) == nil && syscall.Lstat(dir, &named) == nil && held.Ino == named.Ino && held.Dev == named.Dev {
			return true
		}
		_ = syscall.Close(fd)
	}
	return false
}

// free tells whether nobody holds a folder.
func free(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// become runs AppRun in place of this program, with what the specification puts into its environment. It returns only what went wrong.
func become(dir, file, name string, args []string) error {
	program := filepath.Join(dir, "AppRun")
	var fs syscall.Statfs_t
	const noExec = 0x8 // ST_NOEXEC of statfs(2)
	if syscall.Statfs(dir, &fs) == nil && fs.Flags&noExec != 0 {
		return otherCache("Termic cannot be started from %s: programs may not run from that file system (noexec)", dir)
	}
	where, err := os.Getwd()
	if err != nil {
		where = "" // it was removed; AppRun has to live without it
	}
	for k, v := range map[string]string{"APPIMAGE": file, "APPDIR": dir, "ARGV0": name, "OWD": where} {
		if err := os.Setenv(k, v); err != nil {
			return said("The environment cannot be set: %w", err)
		}
	}
	err = syscall.Exec(program, append([]string{program}, args...), os.Environ())
	return said("%s cannot be started: %w", program, err)
}
