package attack

// procRows are tries on processes: those outside, and the cage's own init.
func procRows() []Row {
	return []Row{
		held("proc/environ", "reads the environment of a process outside"),
		held("proc/environ-scan", "looks for the secret in the environment of every process in sight"),
		held("proc/cmdline", "reads the arguments of a process outside"),
		held("proc/cmdline-scan", "looks for the secret in the arguments of every process in sight"),
		held("proc/maps", "reads the memory map of a process outside"),
		held("proc/mem", "reads the memory of a process outside"),
		held("proc/fd", "opens a descriptor of a process outside"),
		held("proc/cwd", "reads from the working folder of a process outside"),
		held("proc/exe", "opens the program of a process outside"),
		held("proc/vm-readv", "reads the memory of a process outside with process_vm_readv"),
		held("proc/vm-writev", "writes the memory of a process outside"),
		held("proc/ptrace", "attaches to a process outside"),
		held("proc/ptrace-seize", "seizes a process outside"),
		held("proc/pidfd-open", "opens a process outside by number"),
		held("proc/pidfd-getfd", "takes a descriptor from a process outside"),
		held("proc/kill", "signals a process outside"),
		held("proc/tgkill", "signals a thread outside"),
		held("proc/sigqueue", "queues a signal to a process outside"),
		held("proc/pidfd-signal", "signals a process outside by descriptor"),
		held("proc/sigio", "makes the kernel signal a process outside"),
		held("proc/prlimit", "changes the limits of a process outside"),
		held("proc/setpriority", "changes the priority of a process outside"),
		held("proc/affinity", "moves a process outside to one processor"),
		held("proc/kcmp", "compares itself with a process outside").lacking("kcmp"),
		held("proc/loginuid", "learns the host's process numbers from its own status"),
		held("env/secrets", "finds the secret in its own environment"),
		held("ipc/shm", "attaches shared memory of the host"),
		held("ipc/msg", "reads a message queue of the host"),
		held("init/environ", "reads the environment of the cage's init"),
		held("init/maps", "reads the memory map of the cage's init"),
		held("init/mem", "reads the memory of the cage's init"),
		held("init/fd", "opens a descriptor of the cage's init"),
		held("init/vm-readv", "reads the memory of the cage's init with process_vm_readv"),
		held("init/vm-writev", "writes the memory of the cage's init"),
		held("init/ptrace", "attaches to the cage's init"),
		held("init/ptrace-seize", "seizes the cage's init"),
		held("init/pidfd-getfd", "takes a descriptor from the cage's init"),
	}
}

// ttyRows are tries on terminals.
func ttyRows() []Row {
	return []Row{
		held("tty/other", "writes to somebody else's terminal"),
		held("tty/tiocsti", "types into its own terminal").lacking("TIOCSTI"),
		held("tty/tiocsti-high", "types into its own terminal by a request number with high bits").lacking("TIOCSTI"),
		held("tty/tioclinux", "reaches the console driver's paste"),
		held("tty/console", "opens the console").root().lacking("a console"),
		held("tty/vt", "opens a virtual terminal").root().lacking("virtual terminals"),
	}
}

// nsRows are tries to leave or make namespaces.
func nsRows() []Row {
	return []Row{
		held("ns/unshare-user", "makes a user namespace"),
		held("ns/unshare-mount", "makes a mount namespace"),
		held("ns/unshare-net", "makes a network namespace"),
		held("ns/unshare-pid", "makes a process namespace"),
		held("ns/unshare-ipc", "makes an IPC namespace"),
		held("ns/unshare-uts", "makes a host name namespace"),
		held("ns/unshare-cgroup", "makes a cgroup namespace"),
		held("ns/unshare-time", "makes a time namespace"),
		held("ns/clone-user", "clones into a user namespace"),
		held("ns/clone3-user", "clones into a user namespace with clone3"),
		held("ns/setns-net", "enters the network of a process outside").root(),
		held("ns/setns-mnt", "enters the files of a process outside").root(),
		held("ns/setns-pidfd", "enters the namespaces of a process outside by descriptor").root(),
		held("ns/setns-init", "enters the user namespace of the cage's init").root(),
		held("ns/raise-limit", "allows itself user namespaces again").root().lacking(noResource),
	}
}

// mountRows are tries to change what is mounted.
func mountRows() []Row {
	return []Row{
		held("mount/tmpfs", "mounts an empty file system"),
		held("mount/bind", "binds a folder outside into the worktree"),
		held("mount/remount", "makes a read-only grant writable by a remount"),
		held("mount/setattr", "makes a read-only grant writable by mount_setattr"),
		held("mount/umount", "unmounts anything at all"),
		held("mount/move", "moves a mount"),
		held("mount/open-tree", "clones a tree of mounts"),
		held("mount/fsopen", "opens a file system"),
		held("mount/proc", "mounts another /proc"),
		held("mount/pivot-root", "changes the root"),
		held("mount/chroot", "escapes by a second chroot"),
		held("mount/overlay", "lays a file system over a read-only grant").lacking("overlay for users"),
		held("mount/propagate", "changes how mounts propagate"),
		held("mount/cgroup-release", "mounts a cgroup and sets its release agent").root().lacking("cgroup v1"),
	}
}

// neighbourRows are tries of one cage on another.
func neighbourRows() []Row {
	return []Row{
		held("neighbour/environ", "reads the environment of a program in another cage"),
		held("neighbour/abstract", "connects to an abstract socket of another cage"),
		network("neighbour/port", "connects to a port of another cage"),
		held("neighbour/home", "writes to the home of another cage").writes(func(g Ground) string { return g.OtherHome + "/planted" }),
	}
}

// limitRows are tries to use the machine up; each stops by itself soon after the limit that is set.
func limitRows() []Row {
	return []Row{
		held("limit/files", "opens more files than it may"),
		held("limit/tmp", "fills the temporary folders, which are memory"),
		held("limit/memory", "takes more memory than it may"),
		held("limit/processes", "forks until it is refused"),
		held("limit/core", "asks for cores of crashed programs, which a program of the system may take up as root"),
	}
}

// lastRows end what others need.
func lastRows() []Row { return []Row{held("init/kill", "ends the cage's init")} }
