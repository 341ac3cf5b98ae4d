package attack

// noResource is what containers and some virtual machines take from root.
const noResource = "the capability to change resource limits"

// kernelRows are tries on parts of the kernel that an agent has no use for.
func kernelRows() []Row {
	rows := []Row{
		held("kernel/add-key", "adds a key to a keyring").lacking("keyrings"),
		held("kernel/keyctl", "asks for the user's keyring").lacking("keyrings"),
		held("kernel/request-key", "searches the keyrings").lacking("keyrings"),
		held("kernel/io-uring", "makes an io_uring").lacking("io_uring"),
		held("kernel/io-uring-read", "reads a file outside through an io_uring").lacking("io_uring"),
		held("kernel/bpf", "loads a BPF map").root(),
		held("kernel/perf", "opens a performance counter").lacking("performance counters for users"),
		held("kernel/userfaultfd", "makes a userfaultfd").lacking("userfaultfd"),
		held("kernel/i386", "calls the kernel by int 0x80").lacking("32-bit calls"),
		held("kernel/i386-unshare", "makes a user namespace by int 0x80").lacking("32-bit calls"),
		held("kernel/x32", "calls the kernel by an x32 number").lacking("x32 calls"),
		out("kernel/personality", "switches off the randomising of addresses", "harmless, and debuggers need it"),
		held("kernel/syslog", "reads the kernel's log").lacking("the kernel's log for users"),
		held("kernel/new-privs", "runs without no_new_privs"),
		held("kernel/no-filter", "runs without a filter of system calls"),
		held("kernel/caps", "holds capabilities, or gets them").root(),
		held("kernel/caps-bounding", "has capabilities in its bounding set"),
		held("kernel/caps-userns", "gets capabilities in a user namespace"),
		held("kernel/setuid-file", "runs a setuid program and becomes another user").prepared(),
		held("kernel/file-caps", "runs a program whose file has a capability").prepared(),
		held("kernel/setuid", "becomes another user").root(),
		held("kernel/setgroups", "changes its groups").root(),
		held("kernel/rlimit", "raises a hard limit").root().lacking(noResource),
		held("kernel/sethostname", "sets the host name").root(),
		held("kernel/clock", "sets the clock").root(),
		held("kernel/iopl", "takes the I/O ports").root().lacking("I/O ports"),
		held("kernel/reboot", "asks for a reboot").root(),
		held("kernel/kexec", "loads another kernel").root().lacking("kexec"),
		held("kernel/module", "loads a kernel module").root().lacking("modules"),
		held("kernel/swapon", "swaps on a file").root().lacking("swap"),
		held("kernel/acct", "switches accounting on").root().lacking("accounting"),
		held("kernel/quotactl", "writes all quotas back").lacking("quotas"),
		held("kernel/core-pattern", "sets the program that gets core dumps").root(),
		held("kernel/sysrq", "opens the magic key").root().lacking("the magic key"),
		held("kernel/sysctl-vm", "opens a kernel setting for writing").root(),
		held("kernel/modprobe-path", "sets the program that loads modules").root().lacking("modules"),
		held("kernel/uevent-helper", "sets the program that gets device events").root().lacking("a device event helper"),
		held("kernel/oom-score", "shields itself from running out of memory").root().lacking(noResource),
		held("kernel/realtime", "takes a processor in real time").root(),
	}
	return rows
}

// deviceRows are tries on devices.
func deviceRows() []Row {
	return []Row{
		held("device/mknod", "makes a device in the worktree and opens it").root(),
		held("device/mknod-disk", "makes the disk's device in the worktree and opens it").root().lacking("a disk"),
		held("device/disk", "opens the disk").root().lacking("a disk"),
		held("device/mem", "opens the machine's memory").root().lacking("/dev/mem"),
		held("device/kmsg", "opens the kernel's log").lacking("a readable /dev/kmsg"),
		held("device/loop", "opens the loop control").root().lacking("loop devices"),
		held("device/fuse", "opens /dev/fuse").lacking("FUSE"),
		held("device/kvm", "opens /dev/kvm").lacking("KVM"),
		held("device/tun", "opens /dev/net/tun").lacking("TUN"),
		held("device/uinput", "opens /dev/uinput").root().lacking("uinput"),
		held("device/kcore", "opens /proc/kcore").root().lacking("/proc/kcore"),
		held("device/mapper", "opens the device mapper").root().lacking("the device mapper"),
		held("device/watchdog", "opens a hardware random source or a CPU latency device").root().lacking("such devices"),
	}
}
