package cage

import (
	"bytes"
	"context"
	"errors"
	"os"
	"termic/internal/fault"
	"testing"
)

func sys() View {
	v := View{}
	for _, d := range []string{"/usr", "/etc", "/opt"} {
		v.Mounts = append(v.Mounts, Mount{Source: d})
	}
	for _, d := range []string{"bin", "sbin", "lib", "lib64", "lib32"} {
		if to, err := os.Readlink("/" + d); err == nil {
			v.Links = append(v.Links, Link{"/" + d, to})
		}
	}
	return v
}

func TestSmoke(t *testing.T) {
	r, w, _ := os.Pipe()
	c, err := Start(context.Background(), Spec{Argv: []string{"sh", "-c", "id; ls -la / /dev; cat /proc/self/status | grep -E 'Cap|Seccomp|NoNew'; ls /proc; cat /proc/mounts; ip a; echo hi > /dev/null; echo $?; touch /tmp/x; touch /x; echo core > /proc/sys/kernel/core_pattern"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", View: sys(), Net: true, Stdio: [3]*os.File{nil, w, w}})
	w.Close()
	if err != nil {
		t.Fatal(err, errors.Unwrap(err), fault.From(err).Hint)
	}
	var b bytes.Buffer
	b.ReadFrom(r)
	t.Log(b.String(), c.Wait(), c.Enforcement())
}
