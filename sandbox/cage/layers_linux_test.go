//go:build weakcage

package cage

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLayersAreEachNeeded leaves out one layer at a time: an attack that fails in a whole cage then succeeds.
func TestLayersAreEachNeeded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	_, data, host, v := hostile(t)
	dir := folder(t)
	put(t, dir+"/secret", "x")
	attacks := map[string]func(*obedient) bool{ // true = it succeeds
		"mounts":   func(o *obedient) bool { return o.do("stat", dir+"/secret") == "ok" },
		"net":      func(o *obedient) bool { return o.do("connect", "tcp", l.Addr().String()) == "ok" },
		"landlock": func(o *obedient) bool { return strings.HasPrefix(o.do("read", data+"/token"), "ok") },
		"seccomp":  func(o *obedient) bool { return o.do("call", strconv.Itoa(unix.SYS_IO_URING_SETUP)) != "ENOSYS" },
		"self-exec": func(o *obedient) bool {
			return strings.Contains(o.do("caps", "1"), "CapEff=000001ffffffffff") || o.do("ptrace", "1") == "ok"
		},
	}
	for layer, attack := range attacks {
		for _, weak := range []bool{false, true} {
			must(t, os.RemoveAll(host+dataDir+".old"))
			spec := Spec{View: with(v, Mount{Source: v.Mounts[0].Source}), Net: true, Argv: []string{v.Mounts[0].Source, toolName, "obey"}} // by its name on the host
			if weak {
				Weaken(&spec, layer)
			}
			o := newObedient(t, spec)
			must(t, os.Rename(host+dataDir, host+dataDir+".old")) // what only Landlock covers
			put(t, host+dataDir+"/token", "new secret")
			if got := attack(o); got != weak {
				t.Errorf("without %s: %v; the attack succeeds: %v", layer, weak, got)
			}
			o.Kill()
			o.Wait()
		}
	}
}
