package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

func tcgetpgrp(f *os.File) (int, error) { return unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP) }
