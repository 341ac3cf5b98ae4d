package cage

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termic/sandbox/cage/inside"
	"termic/sandbox/cage/wire"
)

// bounds holds the limits of one cage: by a cgroup of its own where this user may make one, and by weaker means elsewhere.
type bounds struct {
	want   Limits
	groups []string // folders of cgroups that are ours to remove
	by     struct{ processes, memory string }
}

// Names of what holds a limit.
const (
	byV2     = "cgroup v2"
	byV1     = "cgroup v1"
	byPidMax = "pid_max"
	byRlimit = "rlimit"
)

// reservedPids are the process ids that the kernel (RESERVED_PIDS) gives out once and never again after its numbers have
// gone round: a bound on the ids bounds the processes that live to that much less.
const reservedPids = 300

// newBounds puts a process, which is about to become the parent of a cage, under the limits.
func newBounds(want Limits, pid int) *bounds {
	b := &bounds{want: want}
	if want.Processes <= 0 && want.Memory <= 0 {
		return b
	}
	own, err1 := os.ReadFile("/proc/self/cgroup")
	mounts, err2 := os.ReadFile("/proc/self/mountinfo")
	if err1 != nil || err2 != nil {
		return b
	}
	tree := parseCgroups(string(own), string(mounts))
	if !b.v2(tree.v2, pid) {
		b.v1(tree.v1, pid)
	}
	return b
}

// cgroups are the folders of this process, as far as they can be seen.
type cgroups struct {
	v2 string            // "" = none
	v1 map[string]string // by controller
}

// parseCgroups finds the folders of this process's groups from /proc/self/cgroup and mountinfo.
func parseCgroups(own, mounts string) cgroups {
	paths := map[string]string{} // controller, or "" for version 2, to the path of the group
	for line := range strings.Lines(own) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		if f[0] == "0" && f[1] == "" {
			paths[""] = f[2]
		}
		for c := range strings.SplitSeq(f[1], ",") {
			if c != "" {
				paths[c] = f[2]
			}
		}
	}
	out := cgroups{v1: map[string]string{}}
	for line := range strings.Lines(mounts) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		place := func(path string) string { // the mount may show a part of the tree alone
			if l[3] != "/" {
				path = strings.TrimPrefix(path, l[3])
			}
			return filepath.Join(l[4], path)
		}
		switch r[0] {
		case "cgroup2":
			if path, ok := paths[""]; ok {
				out.v2 = place(path)
			}
		case "cgroup":
			for c := range strings.SplitSeq(r[2], ",") {
				if path, ok := paths[c]; ok {
					out.v1[c] = place(path)
				}
			}
		}
	}
	return out
}

// v2 makes a group below ours, or beside ours where ours may have no children, and puts the process in.
func (b *bounds) v2(own string, pid int) bool {
	if own == "" {
		return false
	}
	for _, parent := range []string{own, filepath.Dir(own)} {
		text, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
		if err != nil {
			continue
		}
		have := strings.Fields(string(text))
		var set [][2]string
		var by struct{ processes, memory string }
		for _, c := range have {
			if c == "pids" && b.want.Processes > 0 {
				set, by.processes = append(set, [2]string{"pids.max", num(b.want.Processes)}), byV2
			}
			if c == "memory" && b.want.Memory > 0 {
				set, by.memory = append(set, [2]string{"memory.max", num(b.want.Memory)}, [2]string{"?memory.swap.max", "0"}), byV2
			}
		}
		if len(set) > 0 && b.group(parent, set, pid) {
			b.by = by
			return true
		}
	}
	return false
}

// v1 does the same in the two hierarchies of version 1.
func (b *bounds) v1(own map[string]string, pid int) {
	if parent, ok := own["pids"]; ok && b.want.Processes > 0 && b.group(parent, [][2]string{{"pids.max", num(b.want.Processes)}}, pid) {
		b.by.processes = byV1
	}
	limit := num(b.want.Memory)
	if parent, ok := own["memory"]; ok && b.want.Memory > 0 &&
		b.group(parent, [][2]string{{"memory.limit_in_bytes", limit}, {"?memory.memsw.limit_in_bytes", limit}}, pid) {
		b.by.memory = byV1
	}
}

// group makes a group, sets its files, and puts the process in. A file with a question mark may be missing.
func (b *bounds) group(parent string, set [][2]string, pid int) bool {
	sweep(parent)
	dir := filepath.Join(parent, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), pid))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return false
	}
	for _, s := range append(set, [2]string{"cgroup.procs", strconv.Itoa(pid)}) {
		name, optional := strings.CutPrefix(s[0], "?")
		err := os.WriteFile(filepath.Join(dir, name), []byte(s[1]), 0)
		if err != nil && !optional {
			_ = os.Remove(dir)
			return false
		}
	}
	b.groups = append(b.groups, dir)
	return true
}

// groupPrefix begins the name of every group of a cage; the process id of its app follows.
const groupPrefix = "termic-cage-"

// sweep removes what apps that were killed left behind, and what apps in their cages did. A group with a process in it cannot
// be removed.
func sweep(parent string) {
	old, err := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range old {
		sweep(dir)
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = os.Remove(dir)
		}
	}
}

// remove gives the groups back. The kernel takes a moment to forget the processes that were in them.
func (b *bounds) remove() {
	if b == nil {
		return
	}
	for _, dir := range b.groups {
		for wait := time.Millisecond; wait < time.Second; wait *= 2 {
			if err := os.Remove(dir); !errors.Is(err, syscall.EBUSY) {
				break
			}
			time.Sleep(wait)
		}
	}
}

// ask puts what no group holds into the request to the helper.
func (b *bounds) ask(m *wire.Setup) {
	if b.want.Processes > 0 && b.by.processes == "" {
		m.NumProcs = b.want.Processes
		if inside.PidMaxIsOurs() {
			m.PidMax = b.want.Processes + reservedPids
		}
	}
	if b.want.Memory > 0 && b.by.memory == "" {
		m.Data = b.want.Memory
	}
	m.OpenFiles = max(b.want.OpenFiles, 0)
}

// report says what holds. pidMax is what the helper found.
func (b *bounds) report(pidMax bool) (processes, memory, files Limit) {
	switch root := os.Getuid() == 0; {
	case b.want.Processes <= 0:
	case b.by.processes != "":
		processes = Limit{Value: b.want.Processes, By: b.by.processes}
	case !root: // the count is that of this user in the cage's own user namespace
		processes = Limit{Value: b.want.Processes, By: byRlimit}
	case pidMax:
		processes = Limit{Value: b.want.Processes + reservedPids, By: byPidMax}
	default:
		processes = Limit{Note: "Not limited: the kernel counts no processes of root, and here is neither a cgroup to use nor Linux 6.14."}
	}
	switch {
	case b.want.Memory <= 0:
	case b.by.memory != "":
		memory = Limit{Value: b.want.Memory, By: b.by.memory}
	default:
		memory = Limit{Value: b.want.Memory, By: byRlimit, Note: "Of each process, not of all together: here is no cgroup to use."}
	}
	if b.want.OpenFiles > 0 {
		files = Limit{Value: min(b.want.OpenFiles, hardFiles()), By: byRlimit, Note: "Of each process."}
	}
	return processes, memory, files
}

func num(v int64) string { return strconv.FormatInt(v, 10) }

// hardFiles is the most descriptors that this process, and so a cage, may ask for.
func hardFiles() int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || l.Max > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(l.Max)
}
