package cage

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termic/internal/fault"
)

func with(v View, mounts ...Mount) View {
	v.Mounts = append(v.Mounts, mounts...)
	return v
}

func TestGrants(t *testing.T) {
	dir := folder(t)
	for _, n := range []string{"rw/f", "ro/f", "ro/sub/f", "none/f", "single"} {
		put(t, filepath.Join(dir, n), n)
	}
	must(t, os.Symlink(dir+"/none/f", dir+"/rw/link"))
	nets := networks(t)
	for _, net := range nets {
		o := newObedient(t, Spec{Net: net, View: with(systemView(t), Mount{Source: dir + "/rw", Write: true}, Mount{Source: dir + "/ro"},
			Mount{Source: dir + "/ro/f", Target: "/else/where"}, Mount{Source: dir + "/single", Target: dir + "/rw/single", Write: true})})
		o.want("ok rw/f", "read", dir+"/rw/f")
		o.want("ok ro/sub/f", "read", dir+"/ro/sub/f")
		o.want("ok ro/f", "read", "/else/where")
		o.want("ENOENT", "read", dir+"/none/f")
		o.want("ENOENT", "stat", dir+"/none")
		o.want("ENOENT", "read", dir+"/rw/link")
		o.want("ok", "write", dir+"/rw/new", "x")
		o.want("ok", "append", dir+"/rw/single", "+")
		o.want("ok", "mkdir", dir+"/rw/d")
		o.want("ok", "rename", dir+"/rw/new", dir+"/rw/d/new")
		o.want("ok", "link", dir+"/rw/d/new", dir+"/rw/hard")
		for _, act := range [][]string{{"append", dir + "/ro/f", "x"}, {"write", dir + "/ro/new", "x"}, {"chmod", dir + "/ro/f"}, {"remove", dir + "/ro/f"}, {"append", "/else/where", "x"}, {"mkdir", "/x"}} {
			o.wantAny([]string{"EROFS", "EACCES"}, act...)
		}
		o.wantAny([]string{"EXDEV", "EROFS"}, "link", dir+"/ro/f", dir+"/rw/stolen")
		for _, d := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
			if names := o.do("list", d); names != "ok" && !strings.HasPrefix(dir, d+"/") {
				t.Errorf("%s holds %q", d, names)
			}
			o.want("ok", "write", d+"/x", "x")
		}
		must(t, os.RemoveAll(dir+"/rw/d"))
		must(t, os.Remove(dir+"/rw/hard"))
	}
	if _, err := os.Stat("/tmp/x"); err == nil {
		t.Error("/tmp of a cage is the host's")
	}
	if b, err := os.ReadFile(dir + "/single"); string(b) != "single"+strings.Repeat("+", len(nets)) || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

// TestGrantBelowTmp has a worktree in a place that is private in every cage.
func TestGrantBelowTmp(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "cage-test")
	must(t, err)
	defer os.RemoveAll(dir)
	put(t, dir+"/a/f", "here")
	o := newObedient(t, Spec{Net: true, View: with(systemView(t), Mount{Source: dir + "/a", Write: true})})
	o.want("ok here", "read", dir+"/a/f")
	o.want("ok "+filepath.Base(dir), "list", "/tmp")
	o.want("ok a", "list", dir)
}

func TestRefusedGrants(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/real/f", "x")
	put(t, dir+"/data/f", "x")
	must(t, os.Symlink(dir+"/real", dir+"/link"))
	id := func(path string) Mount {
		var st unix.Stat_t
		must(t, unix.Stat(path, &st))
		return Mount{Source: path, Dev: uint64(st.Dev), Ino: st.Ino}
	}
	right, wrong := id(dir+"/real"), id(dir+"/data")
	wrong.Source = dir + "/real"
	real := Mount{Source: dir + "/real", Write: true}
	for name, tt := range map[string]struct {
		view View
		want fault.Code // "" = starts
		text string
	}{
		"fine":                {View{Mounts: []Mount{real}}, "", ""},
		"the same":            {View{Mounts: []Mount{right}}, "", ""},
		"another":             {View{Mounts: []Mount{wrong}}, fault.Conflict, "is not what it was"},
		"missing":             {View{Mounts: []Mount{{Source: dir + "/nothing"}}}, fault.NotFound, "does not exist"},
		"a link":              {View{Mounts: []Mount{{Source: dir + "/link"}}}, fault.Conflict, "A link lies on the way"},
		"a link on the way":   {View{Mounts: []Mount{{Source: dir + "/link/f"}}}, fault.Conflict, "A link lies on the way"},
		"relative":            {View{Mounts: []Mount{{Source: "real"}}}, fault.InvalidArgument, "absolute"},
		"not clean":           {View{Mounts: []Mount{{Source: dir + "/data/../real"}}}, fault.InvalidArgument, "clean"},
		"twice":               {View{Mounts: []Mount{real, {Source: dir + "/data", Target: dir + "/real"}}}, fault.InvalidArgument, "two grants"},
		"the root":            {View{Mounts: []Mount{{Source: "/"}}}, fault.InvalidArgument, "root"},
		"proc":                {View{Mounts: []Mount{{Source: "/proc/sys"}}}, fault.InvalidArgument, "/proc"},
		"a missing cover":     {View{Mounts: []Mount{real}, Covers: []string{dir + "/real/secret"}}, fault.Conflict, "does not exist"},
		"a missing pin":       {View{Mounts: []Mount{real}, Pins: []string{dir + "/real/secret"}}, fault.Conflict, "does not exist"},
		"a link as cover":     {View{Mounts: []Mount{real}, Covers: []string{dir + "/link"}}, fault.Conflict, "A link"},
		"granted and hidden":  {View{Mounts: []Mount{real}, Covers: []string{dir + "/real"}}, fault.InvalidArgument, "hidden"},
		"no place in a grant": {View{Mounts: []Mount{{Source: dir + "/real"}, {Source: dir + "/data", Target: dir + "/real/data"}}}, fault.Conflict, "read-only grant"},
		"a link in a grant":   {View{Mounts: []Mount{real}, Links: []Link{{dir + "/real/l", "/"}}}, fault.InvalidArgument, "inside a grant"},
	} {
		t.Run(name, func(t *testing.T) {
			v := systemView(t)
			v.Mounts = append(v.Mounts, tt.view.Mounts...)
			v.Links = append(v.Links, tt.view.Links...)
			v.Covers, v.Pins = tt.view.Covers, tt.view.Pins
			c, err := Start(t.Context(), filled(Spec{Argv: []string{"true"}, View: v, Net: true}))
			if err == nil {
				c.Wait()
			}
			if fault.CodeOf(err) != tt.want || err != nil && !strings.Contains(words(err), tt.text) {
				t.Errorf("got %v", err)
			}
			if left := zombies(t); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestPlantedLink has a private home in which an earlier cage put a link where a grant is to be mounted.
func TestPlantedLink(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/home/x", "x")
	put(t, dir+"/tools/f", "f")
	put(t, dir+"/victim/f", "v")
	must(t, os.Symlink(dir+"/victim", dir+"/home/.tools"))
	v := with(systemView(t), Mount{Source: dir + "/home", Target: "/home/u", Write: true}, Mount{Source: dir + "/tools", Target: "/home/u/.tools"})
	_, err := Start(t.Context(), filled(Spec{Argv: []string{"true"}, View: v, Net: true}))
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(words(err), "the agent made it") {
		t.Error(err)
	}
	must(t, os.Remove(dir+"/home/.tools"))
	o := newObedient(t, Spec{View: v, Net: true})
	o.want("ok f", "read", "/home/u/.tools/f")
	o.want("ok x", "read", "/home/u/x")
	if entries, err := os.ReadDir(dir + "/home/.tools"); err != nil || len(entries) > 0 {
		t.Errorf("the mount point on the host: %v, %v", entries, err)
	}
}

// hostile grants an ancestor of a folder that must stay hidden, with other names than on the host: below /tmp the rules of
// the private /tmp would be divided too.
func hostile(t *testing.T) (home, data, host string, v View) {
	host = filepath.Join(folder(t), "home")
	home = "/home/hostile"
	put(t, host+dataDir+"/token", "secret")
	put(t, host+"/.local/share/other/f", "fine")
	put(t, host+"/f", "fine")
	v = with(systemView(t), Mount{Source: host, Target: home, Write: true})
	v.Covers = []string{host + dataDir}
	return home, home + dataDir, host, v
}

const dataDir = "/.local/share/app"

func TestCover(t *testing.T) {
	home, data, host, v := hostile(t)
	o := newObedient(t, Spec{View: v, Net: true})
	o.want("ok fine", "read", home+"/f") // controls
	o.want("ok fine", "read", home+"/.local/share/other/f")
	o.want("ok", "append", home+"/f", "+")
	o.want("ok", "write", "/tmp/x", "x")
	for _, path := range []string{data, "/proc/self/root" + data} {
		o.want("EACCES", "read", path+"/token")
		o.want("EACCES", "list", path)
		o.wantAny([]string{"EACCES", "EROFS"}, "write", path+"/new", "x")
	}
	o.wantAny([]string{"EROFS", "EACCES"}, "chmod", data)
	for _, path := range []string{home + "/.local/share", home + "/.local", data} {
		o.wantAny([]string{"EBUSY", "EXDEV", "EACCES"}, "rename", path, home+"/moved")
		o.wantAny([]string{"EBUSY", "EXDEV", "EACCES"}, "rename", path, path+"2")
		o.wantAny([]string{"EBUSY", "EACCES"}, "remove", path)
	}
	onHost := host + dataDir
	for name, replace := range map[string]func(){
		"moved away": func() { must(t, os.Rename(onHost, onHost+".old")) },
		"removed":    func() { must(t, os.RemoveAll(onHost)) },
	} {
		replace()
		put(t, onHost+"/token", "new secret")
		if got := o.do("read", data+"/token"); got != "EACCES" {
			t.Errorf("%s and made again on the host: %q", name, got)
		}
		o.want("EACCES", "append", data+"/token", "x")
	}
	o.want("EACCES", "read", data+".old/token")
}

// TestCoverBelowTmp has the hidden folder where the private /tmp has rules too.
func TestCoverBelowTmp(t *testing.T) {
	_, _, host, v := hostile(t)
	v.Mounts[len(v.Mounts)-1].Target = "/tmp/deep/home"
	o := newObedient(t, Spec{View: v, Net: true})
	data := "/tmp/deep/home" + dataDir
	o.want("ok fine", "read", "/tmp/deep/home/f")
	o.want("EACCES", "read", data+"/token")
	must(t, os.Rename(host+dataDir, host+dataDir+".old"))
	put(t, host+dataDir+"/token", "new secret")
	o.want("EACCES", "read", data+"/token")
}

func TestCoverOfFile(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/etc/shadow", "secret")
	put(t, dir+"/etc/passwd", "fine")
	v := with(systemView(t), Mount{Source: dir + "/etc", Target: "/more/etc"})
	v.Covers = []string{dir + "/etc/shadow"}
	o := newObedient(t, Spec{View: v, Net: true})
	o.want("ok fine", "read", "/more/etc/passwd")
	o.want("ok passwd shadow", "list", "/more/etc")
	o.want("EACCES", "read", "/more/etc/shadow")
	put(t, dir+"/etc/shadow.new", "new secret")
	must(t, os.Rename(dir+"/etc/shadow.new", dir+"/etc/shadow"))
	o.want("EACCES", "read", "/more/etc/shadow")
}

// TestGrantBelowCover is the private home of a task, which lies in the hidden data folder.
func TestGrantBelowCover(t *testing.T) {
	home, data, host, v := hostile(t)
	host += dataDir
	put(t, host+"/homes/t1/f", "mine")
	put(t, host+"/homes/t2/f", "other's")
	put(t, host+"/one", "one")
	v.Mounts = append(v.Mounts, Mount{Source: host + "/homes/t1", Target: data + "/homes/t1", Write: true},
		Mount{Source: host + "/homes/t1", Target: home + "/.local/share/other", Write: true}, Mount{Source: host + "/one", Target: data + "/one"})
	o := newObedient(t, Spec{View: v, Net: true})
	o.want("ok mine", "read", data+"/homes/t1/f")
	o.want("ok", "write", data+"/homes/t1/new", "x")
	o.want("ok mine", "read", home+"/.local/share/other/f")
	o.want("ok one", "read", data+"/one")
	o.want("EACCES", "list", data)
	o.want("EACCES", "list", data+"/homes")
	o.wantAny([]string{"EACCES", "ENOENT"}, "read", data+"/homes/t2/f")
	o.wantAny([]string{"EACCES", "ENOENT"}, "read", data+"/token")
}

func TestPins(t *testing.T) {
	dir := folder(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir+"/repo", []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	must(t, os.Mkdir(dir+"/repo", 0o700))
	git("init", "-q")
	git("config", "user.name", "n")
	git("config", "user.email", "e@example.invalid")
	put(t, dir+"/repo/f", "f")
	git("add", "f")
	git("commit", "-qm", "first")
	v := with(systemView(t), Mount{Source: dir + "/repo", Write: true})
	v.Pins = []string{dir + "/repo/.git/config", dir + "/repo/.git/hooks", dir + "/repo/.git/info/exclude"}
	o := newObedient(t, Spec{View: v, Net: true})
	repo := dir + "/repo"
	o.want("EROFS", "append", repo+"/.git/config", "x")
	o.want("EROFS", "write", repo+"/.git/hooks/pre-commit", "x")
	o.want("EROFS", "append", repo+"/.git/info/exclude", "x")
	for _, path := range []string{"/.git/config", "/.git/hooks", "/.git/info", "/.git", "/.git/info/exclude"} {
		o.wantAny([]string{"EBUSY", "EXDEV"}, "rename", repo+path, repo+"/moved")
	}
	o.want("ok", "write", repo+"/.git/x", "x")
	o.wantAny([]string{"EBUSY"}, "rename", repo+"/.git/x", repo+"/.git/config")
	o.want("ok", "write", repo+"/.git/info/attributes", "x")
	out, exit := run(t, Spec{View: v, Net: true, Dir: repo, Env: []string{"PATH=/usr/bin:/bin", "HOME=/tmp", "GIT_CONFIG_NOSYSTEM=1"}},
		"sh", "-ec", "echo 2 >f; git commit -qam second; git branch b; git branch -d b; echo 3 >f; git stash -q; git stash pop; git gc -q; git log --format=%s")
	if exit.Code != 0 || !strings.Contains(out, "second\nfirst\n") {
		t.Errorf("git in the cage: %+v\n%s", exit, out)
	}
}

// TestAliases shows a hidden folder under other names, by mounts that were there before.
func TestAliases(t *testing.T) {
	if !inChild("mounts") {
		again(t, "mounts", func(cmd *exec.Cmd) { ownMounts(cmd) })
		return
	}
	home, data, host, v := hostile(t)
	alias, part, twin := folder(t)+"/alias", folder(t)+"/part", folder(t)+"/twin"
	put(t, host+dataDir+"/deep/key", "secret")
	for path, source := range map[string]string{alias: host, part + "/in": host + dataDir + "/deep", twin: host + "/.local"} {
		must(t, os.MkdirAll(path, 0o700))
		must(t, unix.Mount(source, path, "", unix.MS_BIND|unix.MS_REC, ""))
		defer unix.Unmount(path, unix.MNT_DETACH)
	}
	v.Mounts = append(v.Mounts, Mount{Source: alias, Target: "/alias", Write: true}, Mount{Source: part, Target: "/part", Write: true}, Mount{Source: twin, Target: "/twin"})
	o := newObedient(t, Spec{View: v, Net: true})
	o.want("ok fine", "read", "/alias/f") // controls
	o.want("ok fine", "read", home+"/f")
	o.want("ok fine", "read", "/twin/share/other/f")
	for inside, outside := range map[string]string{data + "/token": host + dataDir + "/token", "/alias" + dataDir + "/token": alias + dataDir + "/token",
		"/twin/share/app/token": twin + "/share/app/token", "/part/in/key": part + "/in/key", "/alias" + dataDir + "/deep/key": alias + dataDir + "/deep/key"} {
		if b, err := os.ReadFile(outside); err != nil || string(b) != "secret" {
			t.Errorf("on the host, %s: %q, %v", outside, b, err)
		}
		o.want("EACCES", "read", inside)
	}
	o.wantAny([]string{"EBUSY", "EXDEV", "EACCES"}, "rename", "/alias/.local", "/alias/moved")
}

// ownMounts starts a program with a mount namespace of its own, in which it may mount.
func ownMounts(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_SYS_RESOURCE}}
}

// TestRefusedMachine makes machines that cannot cage, and looks at the words.
func TestRefusedMachine(t *testing.T) {
	kind := os.Getenv("CAGE_TEST_CHILD")
	switch kind {
	case "":
		for _, k := range []string{"no namespaces", "masked proc"} {
			again(t, k, ownMounts)
		}
		return
	case "no namespaces":
		must(t, os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0))
	case "masked proc":
		must(t, unix.Mount("tmpfs", "/proc/acpi", "tmpfs", unix.MS_RDONLY, ""))
	default:
		t.Fatal(kind)
	}
	r := Probe(t.Context(), "")
	var f *fault.Error
	if r.Enforce || r.EnforceFs || !errors.As(r.Problem, &f) || f.Code != fault.Unsupported {
		t.Fatalf("%+v", r)
	}
	want := map[string][2]string{"no namespaces": {"user.max_user_namespaces is 0", "sysctl"}, "masked proc": {"/proc of its own", "systempaths=unconfined"}}[kind]
	if !strings.Contains(f.Message, want[0]) || !strings.Contains(f.Hint, want[1]) {
		t.Error(words(f))
	}
}

func TestProbe(t *testing.T) {
	var p Prober
	r := p.Report(t.Context(), "")
	if !r.Enforce || r.Problem != nil || r.Kernel == "" {
		t.Fatalf("this machine cannot cage: %+v", r)
	}
	if r.Holds.Landlock < fsLandlock == r.EnforceFs {
		t.Errorf("Landlock %d, and files alone: %v, %v", r.Holds.Landlock, r.EnforceFs, r.ProblemFs)
	}
	if want := os.Getenv(envLandlock); want != "" && want != strconv.Itoa(r.Holds.Landlock) {
		t.Errorf("Landlock %d on %s, want %s", r.Holds.Landlock, r.Kernel, want)
	}
	t.Logf("%+v", r)
	if again := p.Report(t.Context(), ""); again.Kernel != r.Kernel || !again.Enforce {
		t.Errorf("%+v", again)
	}
}

func TestPrograms(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/plain", "x")
	put(t, dir+"/broken", "#!/no/such/interpreter\n")
	must(t, os.Chmod(dir+"/broken", 0o700))
	for _, tt := range []struct {
		dir, program string
		want         fault.Code
		text         string
	}{
		{"/", "no-such-program", fault.NotFound, "no-such-program does not exist"},
		{"/", "/usr/bin", fault.Forbidden, "may not be started"},
		{dir, "./plain", fault.Forbidden, "may not be started"},
		{dir, "./broken", fault.NotFound, "interpreter"},
		{"/no/such/folder", "true", fault.NotFound, "The working folder"},
	} {
		_, err := Start(t.Context(), filled(Spec{Argv: []string{tt.program}, Dir: tt.dir, View: with(systemView(t), Mount{Source: dir}), Net: true}))
		if fault.CodeOf(err) != tt.want || !strings.Contains(words(err), tt.text) {
			t.Errorf("%s: %v", tt.program, err)
		}
	}
	_, err := Start(t.Context(), filled(Spec{Argv: []string{"true"}, View: systemView(t), Net: true, HelperPath: "/no/such/helper"}))
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(words(err), "/no/such/helper") {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	o := newObedient(t, Spec{View: systemView(t), Net: true, Limits: Limits{Processes: 100, Memory: limitedMemory, OpenFiles: 64}})
	e := o.Enforcement()
	t.Logf("processes %+v, memory %+v, files %+v", e.Processes, e.Memory, e.OpenFiles)
	if e.OpenFiles.Value != 64 || e.Memory.By == "" {
		t.Errorf("%+v", e)
	}
	if want := os.Getenv(envLimits); want != "" && (e.Processes.By != want || e.Memory.By != want) {
		t.Errorf("the limits are held by %q and %q, want %q", e.Processes.By, e.Memory.By, want)
	}
	if e.Processes.By == "" {
		t.Skip("nothing here limits processes: " + e.Processes.Note)
	}
	for range 400 { // one after the other: ids that were given back are there again
		if got := o.do("one"); got != "ok" {
			t.Fatalf("one process after the other: %s", got)
		}
	}
	got := strings.Fields(o.do("forks", "2000"))
	if n, err := strconv.ParseInt(got[1], 10, 64); err != nil || n > e.Processes.Value || n < 50 || got[2] != "EAGAIN" {
		t.Errorf("forks: %s, with %+v", got, e.Processes)
	}
	for range 20 { // the first process still does its work
		if _, err := o.Dial(t.Context(), 5173); !errors.Is(err, unix.ECONNREFUSED) {
			t.Fatal(err)
		}
	}
	if got := o.do("files", "200"); !strings.HasSuffix(got, "EMFILE") {
		t.Errorf("open files: %s", got)
	}
	if _, err := exec.Command("true").Output(); err != nil {
		t.Errorf("the host can start nothing: %v", err)
	}
	out, exit := run(t, Spec{View: systemView(t), Net: true, Limits: Limits{Memory: limitedMemory}}, toolPath, toolName, "hog", "4096")
	if strings.Contains(out, "no end") {
		t.Errorf("memory: %q %+v", out, exit)
	}
}

func TestLimitsAreAsked(t *testing.T) {
	for _, l := range []Limits{{}, {OpenFiles: 100}, {Processes: 60}} {
		o := newObedient(t, Spec{View: systemView(t), Net: true, Limits: l})
		e := o.Enforcement()
		if (e.Processes.Value > 0) != (l.Processes > 0) && e.Processes.Note == "" || e.Memory != (Limit{}) {
			t.Errorf("%+v: %+v", l, e)
		}
	}
}

// TestCoveredSocket: the socket of somebody outside is hidden, and new things can still be made beside it. With a folder
// that is hidden they cannot.
func TestCoveredSocket(t *testing.T) {
	dir := folder(t)
	must(t, os.MkdirAll(dir+"/w", 0o700))
	l, err := net.Listen("unix", dir+"/w/s")
	must(t, err)
	defer l.Close()
	plain := newObedient(t, Spec{Net: true, View: with(systemView(t), Mount{Source: dir + "/w", Write: true})})
	plain.want("ok", "connect", "unix", dir+"/w/s")
	v := with(systemView(t), Mount{Source: dir + "/w", Write: true})
	v.Covers = []string{dir + "/w/s"}
	o := newObedient(t, Spec{Net: true, View: v})
	o.wantAny([]string{"ECONNREFUSED", "EACCES", "EPERM", "ENOTSOCK"}, "connect", "unix", dir+"/w/s")
	o.wantAny([]string{"EBUSY", "EROFS", "EACCES"}, "remove", dir+"/w/s")
	o.want("ok", "write", dir+"/w/new", "x")
	o.want("ok", "mkdir", dir+"/w/d")
}

// TestPinFallsWithItsFile states the limit of pins that the package doc names, and that a cover does not share it.
func TestPinFallsWithItsFile(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/w/pinned", "old")
	v := with(systemView(t), Mount{Source: dir + "/w", Target: "/w", Write: true})
	v.Pins = []string{dir + "/w/pinned"}
	o := newObedient(t, Spec{Net: true, View: v})
	o.want("EROFS", "append", "/w/pinned", "x")
	put(t, dir+"/w/new", "new")
	must(t, os.Rename(dir+"/w/new", dir+"/w/pinned"))
	if got := o.do("append", "/w/pinned", "x"); got != "ok" {
		t.Errorf("this kernel keeps a pin over a replaced file (%s): the doc of the package can promise more", got)
	}
}

// TestFilesOfPrivateFoldersAreBounded: empty files use up no bytes of a temporary file system, but memory of the kernel.
func TestFilesOfPrivateFoldersAreBounded(t *testing.T) {
	v := systemView(t)
	v.TmpBytes = 8 << 20
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		out, exit := run(t, Spec{View: v, Net: true, Env: []string{"PATH=/usr/bin:/bin"}}, "sh", "-c",
			"cd "+dir+" && seq 1 1500 | xargs touch 2>/dev/null && echo all; seq 1501 4000 | xargs touch 2>/dev/null && echo too many; exit 0")
		if exit.Code != 0 || strings.TrimSpace(out) != "all" {
			t.Errorf("%s: %q, %+v", dir, out, exit)
		}
	}
}
