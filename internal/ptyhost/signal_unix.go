//go:build !windows

package ptyhost

import "syscall"

const sigCont = syscall.SIGCONT
