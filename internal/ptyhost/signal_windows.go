package ptyhost

import "syscall"

const sigCont = syscall.Signal(0)
