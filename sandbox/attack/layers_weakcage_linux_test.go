//go:build weakcage

package attack

import (
	"os"
	"slices"
	"testing"

	"termic/sandbox/cage"
)

// TestLayersLeftOut shows for each layer of the cage that something is held by it alone: without it, the named probes get
// out of a cage that is otherwise whole. It runs in a build with the tag weakcage.
func TestLayersLeftOut(t *testing.T) {
	p, ok := readPrepared()
	if !ok {
		uid := testUser
		if os.Getuid() != 0 {
			uid = os.Getuid()
		}
		runAs(t, uid, program(t), t.Name())
		return
	}
	files := machine(t, p).EnforceFs
	for _, layer := range []struct {
		name   string
		column Column
		kind   cageKind
		probes []string
	}{
		{"mounts", Full, plainCage, []string{"meta/chmod", "meta/stat", "unix/pathname", "file/home-list"}},
		{"net", Full, plainCage, []string{"tcp/loopback", "udp/loopback", "dns/udp", "netlink/route"}},
		{"landlock", FilesOnly, plainCage, []string{"unix/abstract", "unix/x11-abstract", "neighbour/abstract"}},
		{"landlock", Full, wideGrants, []string{"wide/replaced"}},
		{"landlock", Full, plainCage, []string{"git/log-link", "git/log-folder-link", "git/ref-folder-link", "git/message-link", "git/object-pipe"}},
		{"seccomp", Full, plainCage, []string{"kernel/io-uring", "kernel/add-key", "tty/tiocsti", "family/vsock"}},
		{"self-exec", Full, plainCage, []string{"init/ptrace", "init/maps"}},
	} {
		if layer.column == FilesOnly && !files {
			continue
		}
		t.Run(layer.name+","+layer.kind.String(), func(t *testing.T) {
			t.Setenv(cage.WeakEnv, layer.name)
			var rows []Row
			for _, r := range Table() {
				if slices.Contains(layer.probes, r.Name) {
					rows = append(rows, r)
				}
			}
			got := column(t, p, layer.column, layer.kind, rows)
			out := 0
			for _, r := range rows {
				o := got[r.Name]
				t.Logf("without %s, %s: %s %.80q %s", layer.name, r.Name, o.Verdict, o.Report.Got, o.Report.Err)
				switch {
				case o.Verdict == Out:
					out++
				case r.Lacks != "" && uncaged(t, p, r) == Held:
					t.Logf("NOT COUNTED: %s: this machine lacks %s", r.Name, r.Lacks)
				default:
					t.Errorf("without %s, %s is held all the same", layer.name, r.Name)
				}
			}
			if out == 0 {
				t.Errorf("nothing notices that %s is missing", layer.name)
			}
		})
	}
}

// uncaged is what comes of one row without a cage.
func uncaged(t *testing.T, p prepared, r Row) Verdict {
	return column(t, p, Open, plainCage, []Row{r})[r.Name].Verdict
}
