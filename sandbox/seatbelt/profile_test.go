package seatbelt

import (
	"flag"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden profiles anew")

// spec is a task with everything in it. The paths are made up.
func spec() Spec {
	const (
		home = "/Users/u"
		data = home + "/Library/Application Support/termic"
		priv = data + "/homes/t1"
		repo = home + "/code/re\"po"
		wt   = home + "/trees/wt"
	)
	return Spec{
		Read: []string{"/usr", "/System/Library", home + "/.nvm"}, Write: []string{repo + "/.git", home + "/Library"},
		Hide: []string{data, home + "/.nvm/secret", home + "/trees", wt + "/.env"},
		Pins: []string{repo + "/.git/config", repo + "/.git/worktrees", repo + "/.git/worktrees/wt/gitdir", wt + "/.git"},
		Own:  []string{wt, priv, repo + "/.git/worktrees/wt"},
		Home: priv, Dir: wt, Data: data,
		Doors: []int{7778, 7777}, Inbound: []int{3000}, Sockets: []string{data + "/control.sock", "/private/tmp/termic.sock"},
	}
}

func parsed(t testing.TB, s Spec) *Profile {
	t.Helper()
	text, err := Text(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

func TestGoldens(t *testing.T) {
	open := spec()
	open.AllHosts, open.Doors, open.Inbound = true, nil, nil
	for name, s := range map[string]Spec{"enforce": spec(), "enforce-fs": open} {
		text, err := Text(s)
		if err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name + ".sb"
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), text); d != "" {
			t.Errorf("%s differs (run with -update if that is meant): %s", file, d)
		}
	}
}

// TestVerdicts is a table of what a task may and may not, in both modes.
func TestVerdicts(t *testing.T) {
	const (
		home = "/Users/u"
		data = home + "/Library/Application Support/termic"
		priv = data + "/homes/t1"
		git  = home + "/code/re\"po/.git"
		wt   = home + "/trees/wt"
	)
	open := spec()
	open.AllHosts, open.Doors, open.Inbound = true, nil, nil
	enforce, files := parsed(t, spec()), parsed(t, open)
	for _, c := range []struct {
		name     string
		r        Request
		enforce  bool
		filesToo bool
	}{
		{"read a grant", Request{Op: "file-read-data", Path: home + "/.nvm/x"}, true, true},
		{"write a read grant", Request{Op: "file-write-data", Path: home + "/.nvm/x"}, false, false},
		{"read what is not granted", Request{Op: "file-read-data", Path: home + "/.ssh/id"}, false, false},
		{"read beside a grant", Request{Op: "file-read-data", Path: home + "/.nvmrc"}, false, false},
		{"metadata of anything", Request{Op: "file-read-metadata", Path: home + "/.ssh"}, true, true},
		{"read inside a denial", Request{Op: "file-read-data", Path: home + "/.nvm/secret/x"}, false, false},
		{"metadata inside a denial", Request{Op: "file-read-metadata", Path: home + "/.nvm/secret/x"}, false, false},
		{"write the worktree, below a denial", Request{Op: "file-write-create", Path: wt + "/new"}, true, true},
		{"read a denial in the worktree", Request{Op: "file-read-data", Path: wt + "/.env"}, false, false},
		{"rename the worktree", Request{Op: "file-write-unlink", Path: wt}, false, false},
		{"write the pointer", Request{Op: "file-write-data", Path: wt + "/.git"}, false, false},
		{"remove the pointer", Request{Op: "file-write-unlink", Path: wt + "/.git"}, false, false},
		{"read the pointer", Request{Op: "file-read-data", Path: wt + "/.git"}, true, true},
		{"write git's settings", Request{Op: "file-write-data", Path: git + "/config"}, false, false},
		{"create git's settings", Request{Op: "file-write-create", Path: git + "/config"}, false, false},
		{"rename git's folder", Request{Op: "file-write-unlink", Path: git}, false, false},
		{"write an object", Request{Op: "file-write-create", Path: git + "/objects/aa/b"}, true, true},
		{"write another worktree's folder", Request{Op: "file-write-create", Path: git + "/worktrees/other/HEAD"}, false, false},
		{"write its own admin folder", Request{Op: "file-write-create", Path: git + "/worktrees/wt/index.lock"}, true, true},
		{"write its own gitdir", Request{Op: "file-write-data", Path: git + "/worktrees/wt/gitdir"}, false, false},
		{"read the token", Request{Op: "file-read-data", Path: data + "/token"}, false, false},
		{"list the data folder", Request{Op: "file-read-data", Path: data}, false, false},
		{"the name of the data folder", Request{Op: "file-read-metadata", Path: data}, true, true},
		{"read another task's home", Request{Op: "file-read-data", Path: data + "/homes/t2/x"}, false, false},
		{"read its own home", Request{Op: "file-read-data", Path: priv + "/x"}, true, true},
		{"write its own home", Request{Op: "file-write-create", Path: priv + "/x"}, true, true},
		{"rename the data folder", Request{Op: "file-write-unlink", Path: data}, false, false},
		{"rename a folder above the data folder", Request{Op: "file-write-unlink", Path: path.Dir(data)}, false, false},
		{"write beside the data folder", Request{Op: "file-write-create", Path: path.Dir(data) + "/x"}, true, true},
		{"the proxy", Request{Op: "network-outbound", Host: "127.0.0.1", Port: 7778}, true, true},
		{"the endpoint", Request{Op: "network-outbound", Host: "::1", Port: 7777}, true, true},
		{"another port", Request{Op: "network-outbound", Host: "127.0.0.1", Port: 7776}, false, true},
		{"the proxy's port elsewhere", Request{Op: "network-outbound", Host: "192.0.2.1", Port: 7778}, false, true},
		{"listen", Request{Op: "network-bind", Host: "localhost", Port: 3000}, true, true},
		{"listen elsewhere", Request{Op: "network-bind", Host: "localhost", Port: 3001}, false, true},
		{"the control socket", Request{Op: "network-outbound", Unix: data + "/control.sock"}, false, false},
		{"a socket of Termic elsewhere", Request{Op: "network-outbound", Unix: "/private/tmp/termic.sock"}, false, false},
		{"a container engine's socket", Request{Op: "network-outbound", Unix: "/private/var/run/docker.sock"}, false, false},
		{"a socket in the worktree", Request{Op: "network-outbound", Unix: wt + "/agent.sock"}, false, false},
		{"a socket in the home", Request{Op: "network-outbound", Unix: priv + "/s"}, true, true},
		{"the resolver", Request{Op: "network-outbound", Unix: "/private/var/run/mDNSResponder"}, false, true},
		{"certificates", Request{Op: "mach-lookup", Name: "com.apple.trustd.agent"}, true, true},
		{"start a program outside", Request{Op: "mach-lookup", Name: "com.apple.coreservices.launchservicesd"}, false, false},
		{"signal inside", Request{Op: "signal", SameCage: true}, true, true},
		{"signal outside", Request{Op: "signal"}, false, false},
		{"a task port outside", Request{Op: "mach-priv-task-port"}, false, false},
		{"open another terminal", Request{Op: "file-write-data", Path: "/dev/ttys003"}, false, false},
		{"open a terminal made inside", Request{Op: "file-write-data", Path: "/dev/ttys003", Extensions: []string{"com.apple.sandbox.pty"}}, true, true},
		{"set modes", Request{Op: "file-ioctl", Path: "/dev/ttys003"}, true, true},
		{"a disk", Request{Op: "file-read-data", Path: "/dev/disk0"}, false, false},
	} {
		for mode, want := range map[*Profile]bool{enforce: c.enforce, files: c.filesToo} {
			got, err := mode.Allows(c.r)
			if err != nil || got != want {
				t.Errorf("%s (files only: %v): %v, %v; want %v", c.name, mode == files, got, err, want)
			}
		}
	}
}

// TestHostileLists draws lists that try to reach what no list may: around, above and inside of the data folder.
func TestHostileLists(t *testing.T) {
	base := spec()
	token, socket := base.Data+"/token", base.Data+"/control.sock"
	candidates := []string{"/", "/Users", "/Users/u", "/Users/u/Library", path.Dir(base.Data), base.Data, token, socket, base.Data + "/homes",
		base.Home, base.Home + "/x", base.Dir, "/Users/u/trees", "/private/tmp", "/Users/u/Library/Application Supportx", `/a"b\c (deny default)`, "/x\ny"}
	list := rapid.SliceOfN(rapid.SampledFrom(candidates), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{Read: list.Draw(t, "read"), Write: list.Draw(t, "write"), Hide: list.Draw(t, "hide"), Pins: list.Draw(t, "pins"),
			Own: []string{base.Dir, base.Home}, Home: base.Home, Dir: base.Dir, Data: base.Data, Sockets: base.Sockets,
			AllHosts: rapid.Bool().Draw(t, "all")}
		doors := map[int]bool{}
		if !s.AllHosts {
			for _, p := range rapid.SliceOfN(rapid.IntRange(1, 65535), 0, 2).Draw(t, "doors") {
				s.Doors, doors[p] = append(s.Doors, p), true
			}
		}
		text, err := Text(s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		allowed := func(r Request) bool {
			ok, err := p.Allows(r)
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		for _, op := range []string{"file-read-data", "file-read-metadata", "file-write-data", "file-write-create", "file-write-unlink"} {
			if allowed(Request{Op: op, Path: token}) {
				t.Fatalf("%s of the token\n%s", op, text)
			}
		}
		for _, sock := range s.Sockets {
			if allowed(Request{Op: "network-outbound", Unix: sock}) {
				t.Fatalf("the socket %s can be reached\n%s", sock, text)
			}
		}
		for up := base.Data; up != "/"; up = path.Dir(up) {
			if allowed(Request{Op: "file-write-unlink", Path: up}) {
				t.Fatalf("%s can be renamed\n%s", up, text)
			}
		}
		if !s.AllHosts {
			for _, port := range append([]int{1, 80, 7777, 65535}, s.Doors...) {
				if allowed(Request{Op: "network-outbound", Host: "127.0.0.1", Port: port}) != doors[port] {
					t.Fatalf("port %d\n%s", port, text)
				}
			}
			if allowed(Request{Op: "network-outbound", Host: "192.0.2.1", Port: 443}) {
				t.Fatalf("a host can be reached\n%s", text)
			}
		}
	})
}

// TestTheLastWord is textual: no file rule allows anything behind the denial of the data folder, no network rule behind the
// denial of the sockets.
func TestTheLastWord(t *testing.T) {
	for _, open := range []bool{false, true} {
		s := spec()
		s.AllHosts = open
		text, err := Text(s)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, ok := strings.Cut(text, "(deny file-read* file-write* (require-all (subpath "+quote(s.Data)+")")
		if !ok || strings.Contains(rest, "(allow file") {
			t.Errorf("a file rule follows the denial of the data folder (found: %v)", ok)
		}
		_, rest, ok = strings.Cut(text, "(deny network-outbound (remote unix-socket (path-literal ")
		if !ok || strings.Contains(rest, "(allow") {
			t.Errorf("a rule follows the denial of the sockets (found: %v)", ok)
		}
	}
}

func TestOneDoorIsOneLine(t *testing.T) {
	with, without := spec(), spec()
	without.Doors = without.Doors[:1]
	a, err := Text(with)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Text(without)
	if err != nil {
		t.Fatal(err)
	}
	line := "(allow network-outbound (remote tcp \"localhost:7777\"))\n"
	if strings.Count(a, line) != 1 || strings.Replace(a, line, "", 1) != b {
		t.Errorf("the texts differ in more than one line: %s", cmp.Diff(b, a))
	}
}

func TestSpecsThatContradictThemselves(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"no data folder":         func(s *Spec) { s.Data = "" },
		"a home that is not its": func(s *Spec) { s.Own = s.Own[:1] },
		"a relative path":        func(s *Spec) { s.Read = append(s.Read, "x") },
		"a path with dots":       func(s *Spec) { s.Write = append(s.Write, "/a/../b") },
		"a zero byte":            func(s *Spec) { s.Write = append(s.Write, "/a\x00") },
		"port 0":                 func(s *Spec) { s.Doors = []int{0} },
		"a port too high":        func(s *Spec) { s.Inbound = []int{65536} },
		"own around the data":    func(s *Spec) { s.Own = append(s.Own, "/Users/u/Library") },
		"own inside the data":    func(s *Spec) { s.Own = append(s.Own, s.Data+"/x") },
	} {
		s := spec()
		change(&s)
		if text, err := Text(s); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	const begin = "(version 1)(deny default)"
	for _, text := range []string{"", "(version 1)", "(deny default)", "(version 2)(deny default)", begin + "(allow nonsense)", begin + "(allow file-reed*)",
		begin + "(allow)", begin + "(allow file-read* (nonsense))", begin + `(allow file-read* (literal))`, begin + `(allow file-read* (literal "a" "b"))`,
		begin + `(allow network-outbound (remote tcp "localhost:0"))`, begin + `(allow network-outbound (remote tcp "example.test:1"))`,
		begin + `(allow network-outbound (remote udp "localhost:1"))`, begin + "(import \"x\")", begin + "(allow file-read*", begin + `(allow file-read* (literal "x))`,
		begin + `(allow file-read* (literal "\n"))`, begin + ")", begin + "(require-not)", begin + "(deny default)", begin + `(allow file-read* (require-not (literal "a") (literal "b")))`,
		begin + `(allow file-read* (require-all))`, begin + `(allow file-read* (regex #"("))`, begin + strings.Repeat("(", 99)} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	p, err := Parse(begin + "; a comment\n(allow file-read* (literal \"/a\")) (deny file-read-data)")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := p.Allows(Request{Op: "file-read-data", Path: "/a"}); ok || err != nil {
		t.Errorf("the last rule did not decide: %v, %v", ok, err)
	}
	if ok, err := p.Allows(Request{Op: "file-read-metadata", Path: "/a"}); !ok || err != nil {
		t.Errorf("the star did not match: %v, %v", ok, err)
	}
	if _, err := p.Allows(Request{Op: "file-read*"}); err == nil {
		t.Error("a pattern was judged as an operation")
	}
}
