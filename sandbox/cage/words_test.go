package cage

import (
	"strings"
	"syscall"
	"testing"

	"termic/internal/fault"
	"termic/sandbox/cage/wire"
)

// TestWords looks at sentences for refusals that most machines cannot show.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		step  wire.Step
		errno syscall.Errno
		facts facts
		want  string // of the message
		hint  string
	}{
		{wire.StepClone, syscall.ENOSPC, facts{exhausted: true}, "user.max_user_namespaces is 0", "sysctl"},
		{wire.StepClone, syscall.ENOSPC, facts{}, "no further user namespaces", "other sandboxes"},
		{wire.StepClone, syscall.EPERM, facts{container: true}, "container forbids", "seccomp=unconfined"},
		{wire.StepClone, syscall.EPERM, facts{disabled: true}, "unprivileged_userns_clone", "sysctl"},
		{wire.StepClone, syscall.EPERM, facts{}, "forbids new user namespaces", "doctor"},
		{wire.StepClone, syscall.EINVAL, facts{}, "without namespaces", "CONFIG_USER_NS"},
		{wire.StepClone, syscall.EPERM, facts{restricted: true}, "AppArmor", "apparmor_parser"},
		{wire.StepLoopback, syscall.EPERM, facts{restricted: true}, "AppArmor", "apparmor_parser"},
		{wire.StepRoot, syscall.EACCES, facts{restricted: true}, "AppArmor", "apparmor_parser"},
		{wire.StepMount, syscall.EACCES, facts{restricted: true}, "AppArmor", "apparmor_parser"},
		{wire.StepProc, syscall.EPERM, facts{container: true}, "/proc", "systempaths=unconfined"},
		{wire.StepMount, syscall.ENOSYS, facts{kernel: "5.4"}, "5.4", "5.12"},
		{wire.StepLandlock, syscall.EOPNOTSUPP, facts{kernel: "6.1"}, "6.1", "enforce"},
		{wire.StepSeccomp, syscall.ENOSYS, facts{}, "system calls", "CONFIG_SECCOMP"},
		{wire.StepVersion, 0, facts{}, "another version", "start it again"},
	} {
		f := explain(&wire.Failed{Step: tt.step, Errno: int(tt.errno), Path: "/p"}, tt.facts)
		if !strings.Contains(f.Message, tt.want) || !strings.Contains(f.Hint, tt.hint) || strings.HasSuffix(f.Message, ".") {
			t.Errorf("%s, %v, %+v: %q (%q)", tt.step, tt.errno, tt.facts, f.Message, f.Hint)
		}
		for _, never := range []string{"apparmor_restrict_unprivileged_userns=0", "privileged=true", "--privileged"} {
			if strings.Contains(f.Hint, never) {
				t.Errorf("%s advises to turn a protection off: %q", tt.step, f.Hint)
			}
		}
		if f.Code == fault.Internal {
			t.Errorf("%s, %v is nobody's fault but ours", tt.step, tt.errno)
		}
	}
}
