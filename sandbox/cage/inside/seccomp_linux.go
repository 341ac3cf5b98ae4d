//go:build linux && (amd64 || arm64)

package inside

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The third wall: system calls that nobody in a cage needs and that reach into parts of the kernel which the namespaces do
// not divide. What is refused with ENOSYS has programs that fall back; the rest gets EPERM, as from a missing privilege.
//
// Unix sockets stay allowed: browsers, agents of keys and test runners need them, and the root that was built holds none of
// the host's. Tracing inside the cage stays allowed too, for debuggers.

// denied are refused whatever their arguments are, with EPERM.
var denied = [...]uint32{
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, // keyrings know no namespaces but user ones
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, // large and often attacked
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, openTreeAttr, unix.SYS_CHROOT,
	unix.SYS_SETNS,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, // files without their paths
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_VHANGUP, unix.SYS_SYSLOG, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
}

// missing are refused with ENOSYS: who uses them has another way.
var missing = [...]uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

// openTreeAttr is open_tree_attr, of Linux 6.15; one number on every architecture.
const openTreeAttr = 467

// newNamespaces are the bits of unshare that make a namespace.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
	unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// Offsets in struct seccomp_data.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// Answers of a filter.
const (
	answerAllow = unix.SECCOMP_RET_ALLOW
	answerPerm  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	answerNoSys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	answerNoFam = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)

	answerNoProto = unix.SECCOMP_RET_ERRNO | uint32(unix.EPROTONOSUPPORT)
)

// filter is the program. It compares the low half of an argument where the kernel takes only that, and both otherwise.
func filter() []unix.SockFilter {
	var p program
	p.load(offArch)
	p.unless(nativeArch, answerNoSys) // 32-bit programs have other numbers
	p.load(offNr)
	if x32Bit != 0 {
		p.ifAny(x32Bit, answerNoSys)
	}
	for _, nr := range missing {
		p.when(nr, answerNoSys)
	}
	for _, nr := range denied {
		p.when(nr, answerPerm)
	}
	for _, nr := range deniedHere {
		p.when(nr, answerPerm)
	}
	p.call(unix.SYS_UNSHARE, func(p *program) {
		p.load(offArgs)
		p.ifAny(newNamespaces, answerPerm)
	})
	p.call(unix.SYS_CLONE, func(p *program) {
		p.load(offArgs)
		p.ifAny(newNamespaces&^unix.CLONE_NEWTIME, answerPerm) // that bit is part of the exit signal in clone
	})
	p.call(unix.SYS_IOCTL, func(p *program) {
		// The kernel looks at the low 32 bits alone, so anything in the high ones changes nothing.
		p.load(offArgs + 8)
		p.when(unix.TIOCSTI, answerPerm)
		p.when(tiocLinux, answerPerm)
	})
	p.call(unix.SYS_SOCKET, func(p *program) {
		p.load(offArgs)
		p.allow(unix.AF_UNIX)
		p.call(unix.AF_INET, internet)
		p.call(unix.AF_INET6, internet)
		p.unless(unix.AF_NETLINK, answerNoFam)
		p.load(offArgs + 16)
		p.unless(unix.NETLINK_ROUTE, answerNoFam)
	})
	p.call(unix.SYS_SOCKETPAIR, func(p *program) { // the kernel makes sockets of the family before it finds that they have no pairs
		p.load(offArgs)
		p.unless(unix.AF_UNIX, answerNoFam)
	})
	p.answer(answerAllow)
	return p.ops
}

// unusualTypes are the bits that the types of stream, datagram and raw sockets do not have, and all others do.
const unusualTypes = 0xc

// internet lets through the sockets of the internet's families that programs use. Others, such as SCTP and DCCP, are parts of
// the kernel that few have looked at, and that it loads for whoever asks. Some come by their type alone, without a protocol.
func internet(p *program) {
	p.load(offArgs + 8)
	p.ifAny(unusualTypes, answerNoProto)
	p.load(offArgs + 16)
	p.allow(0, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6, unix.IPPROTO_UDPLITE, unix.IPPROTO_MPTCP)
	p.answer(answerNoProto)
}

const tiocLinux = 0x541c // TIOCLINUX of the virtual consoles

// installFilter puts the filter over this thread and everything that it will execute or fork.
func installFilter(ops []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(ops)), Filter: &ops[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
