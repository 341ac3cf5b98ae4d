package cage

import (
	"strings"
	"syscall"

	"termic/internal/fault"
	"termic/sandbox/cage/wire"
)

// facts are what helps to explain a refusal. They never decide anything: only a cage that started shows that one can.
type facts struct {
	kernel     string // release
	restricted bool   // AppArmor keeps namespaces of programs without a profile powerless
	disabled   bool   // the switch of some distributions for user namespaces is off
	exhausted  bool   // user.max_user_namespaces is 0
	container  bool   // signs of a container
}

// explain puts a failed step into words for a person.
func explain(f *wire.Failed, k facts) *fault.Error {
	no := syscall.Errno(f.Errno)
	say := func(code fault.Code, format string, args ...any) *fault.Error {
		return fault.Wrap(f, code, format, args...)
	}
	switch f.Step {
	case wire.StepClone, wire.StepLoopback, wire.StepRoot, wire.StepCaps, wire.StepPivot, wire.StepDev, wire.StepProc, wire.StepNested:
		return explainMachine(f, no, k)
	case wire.StepVersion:
		return say(fault.Unavailable, "The helper of the cage is of another version than the app").
			WithHint("Quit Termic and start it again; if that does not help, install it again.")
	case wire.StepSpec:
		return say(fault.InvalidArgument, "The cage cannot be made as asked: %s", about(f))
	case wire.StepListen:
		return say(fault.Conflict, "Port %s cannot be listened on in the cage", f.Path)
	case wire.StepOpen, wire.StepChanged, wire.StepMount, wire.StepCover, wire.StepPin:
		return explainPath(f, no, k)
	case wire.StepLandlock:
		if no == syscall.EOPNOTSUPP {
			return say(fault.Unsupported, "A cage on the host's network needs a newer kernel: Landlock of Linux 6.12, and this is %s", k.kernel).
				WithHint("Use the mode enforce, which does without; or boot a newer kernel, with landlock among its security modules.")
		}
		return say(fault.Unavailable, "The file rules of the cage (Landlock) could not be set for %s", f.Path)
	case wire.StepSeccomp:
		return say(fault.Unsupported, "The list of forbidden system calls could not be set").
			WithHint("The kernel needs CONFIG_SECCOMP_FILTER, and the processor must be of amd64 or arm64.")
	case wire.StepSelfExec:
		return say(fault.Unavailable, "The helper of the cage could not execute itself").
			WithHint("Install Termic again, with termic-cage beside the app.")
	case wire.StepDir:
		return say(fault.NotFound, "The working folder %s does not exist in the cage", f.Path).WithHint("Grant it.")
	case wire.StepLook, wire.StepExec:
		return explainProgram(f, no)
	}
	return say(fault.Unavailable, "The cage could not be started (%s)", f.Step).WithHint("`termic doctor` looks at what this machine can do.")
}

// explainMachine is for steps that ask for nothing but what every cage needs.
func explainMachine(f *wire.Failed, no syscall.Errno, k facts) *fault.Error {
	say := func(message, hint string) *fault.Error {
		return fault.Wrap(f, fault.Unsupported, "%s", message).WithHint("%s", hint)
	}
	denied := no == syscall.EPERM || no == syscall.EACCES
	switch {
	case no == syscall.ENOSYS:
		return say("This kernel ("+k.kernel+") is too old for a cage, or something forbids its newer calls", "Linux 5.12 or newer is needed; inside a container, one that lets mount_setattr and openat2 through.")
	case f.Step == wire.StepClone && (no == syscall.ENOSPC || no == syscall.EUSERS):
		if k.exhausted {
			return say("The machine allows no user namespaces: user.max_user_namespaces is 0", "Raise it: `sudo sysctl user.max_user_namespaces=15000`, and the same line in /etc/sysctl.d to keep it. If Termic itself runs in a cage, start it outside.")
		}
		return say("The machine allows no further user namespaces", "End other sandboxes, or raise user.max_user_namespaces.")
	case f.Step == wire.StepClone && no == syscall.EINVAL:
		return say("This kernel was built without namespaces", "It needs CONFIG_USER_NS, CONFIG_PID_NS, CONFIG_NET_NS, CONFIG_IPC_NS and CONFIG_UTS_NS.")
	case denied && k.restricted:
		return say("AppArmor keeps programs without a profile from making a cage", "Install the profile that comes with Termic: `sudo install -m 644 termic-cage.apparmor /etc/apparmor.d/termic-cage && sudo apparmor_parser -r /etc/apparmor.d/termic-cage`. It names the path /usr/bin/termic-cage, so the helper must lie there.")
	case f.Step == wire.StepClone && denied && k.disabled:
		return say("The machine forbids user namespaces to users: kernel.unprivileged_userns_clone is 0", "Set it to 1: `sudo sysctl kernel.unprivileged_userns_clone=1`, and the same line in /etc/sysctl.d to keep it.")
	case f.Step == wire.StepProc && denied:
		return say("The cage may not have a /proc of its own: parts of the one here are masked, as in containers", "Start the container with `--security-opt systempaths=unconfined` (Docker, Podman), or run Termic outside.")
	case denied && k.container:
		return say("This container forbids new namespaces", "Start it with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined` (Docker, Podman), or run Termic outside.")
	case f.Step == wire.StepClone && denied:
		return say("The system forbids new user namespaces", "Termic may run in a chroot, in a container or under a security module; `termic doctor` shows which. Run it outside of that, or have the administrator allow user namespaces for termic-cage.")
	}
	return fault.Wrap(f, fault.Unavailable, "The cage could not be made (%s)", f.Step).WithHint("`termic doctor` looks at what this machine can do.")
}

// explainPath is for a grant or a denial.
func explainPath(f *wire.Failed, no syscall.Errno, k facts) *fault.Error {
	say := func(code fault.Code, format string, args ...any) *fault.Error {
		return fault.Wrap(f, code, format, args...)
	}
	denial := map[wire.Step]string{wire.StepCover: "hidden", wire.StepPin: "read-only"}[f.Step]
	switch {
	case f.Step == wire.StepChanged:
		return say(fault.Conflict, "%s is not what it was when it was looked at: something put another in its place", f.Path).WithHint("Try again.")
	case no == syscall.ELOOP:
		return say(fault.Conflict, "A link lies on the way to %s, and the cage follows none", f.Path).
			WithHint("Grant where it leads instead. If the task's own home holds that link, the agent made it: remove it.")
	case denial != "" && no == syscall.ENOENT:
		return say(fault.Conflict, "%s is to be %s in the cage, and does not exist", f.Path, denial).
			WithHint("A denial of something that is not there would deny nothing, so the cage does not start.")
	case denial != "":
		return say(fault.Unavailable, "%s could not be made %s in the cage", f.Path, denial)
	case f.Step == wire.StepOpen && no == syscall.ENOENT:
		return say(fault.NotFound, "%s is granted to the cage, and does not exist", f.Path).WithHint("Make it, or remove the grant.")
	case f.Step == wire.StepOpen:
		return say(fault.Forbidden, "%s is granted to the cage, and cannot be opened", f.Path)
	case no == syscall.EROFS:
		return say(fault.Conflict, "%s cannot be granted: its place lies in a read-only grant and does not exist there", f.Path).
			WithHint("Make an empty folder there, or grant it elsewhere.")
	case no == syscall.ENOSYS:
		return explainMachine(f, no, k)
	case (no == syscall.EACCES || no == syscall.EPERM) && k.restricted:
		return explainMachine(f, no, k)
	}
	return say(fault.Unavailable, "%s could not be shown in the cage", f.Path)
}

func explainProgram(f *wire.Failed, no syscall.Errno) *fault.Error {
	switch no {
	case syscall.ENOENT:
		if f.Step == wire.StepExec {
			return fault.Wrap(f, fault.NotFound, "The program %s cannot be started in the cage: the interpreter that it names is not there", f.Path).WithHint("Grant the folder that it is in.")
		}
		return fault.Wrap(f, fault.NotFound, "The program %s does not exist in the cage", f.Path).WithHint("Grant the folder that it is in, read-only.")
	case syscall.ENOEXEC:
		return fault.Wrap(f, fault.InvalidArgument, "%s is not a program that this machine can run", f.Path).WithHint("A script needs a first line such as #!/bin/sh.")
	case syscall.E2BIG:
		return fault.Wrap(f, fault.InvalidArgument, "The arguments and variables of %s are too long", f.Path)
	case syscall.EAGAIN:
		return fault.Wrap(f, fault.Unavailable, "The cage may start no more processes").WithHint("Raise its limit of processes.")
	}
	return fault.Wrap(f, fault.Forbidden, "The program %s may not be started in the cage", f.Path)
}

// about is the path and the text of a failed step.
func about(f *wire.Failed) string {
	return strings.TrimPrefix(strings.Join([]string{f.Path, f.Text}, ": "), ": ")
}

// errProbe is for a probe whose program did not end well in a cage that stood.
func errProbe(e Exit) error {
	return fault.New(fault.Unavailable, "A program in a cage that was tried ended with code %d %s", e.Code, e.Signal).
		WithHint("The log of the kernel may say which security module stopped it.")
}
