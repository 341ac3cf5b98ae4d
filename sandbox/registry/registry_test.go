package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/sandbox/hosts"
	"termic/sandbox/proxy"
)

// world answers for made-up names, by a proxy of the test that the tools are led to.
type world struct {
	t       *testing.T
	dir     string
	home    string
	env     []string
	private []string // names that lead into a private network
}

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if slices.Contains(w.private, host) {
		return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("203.0.113.1")}, nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), home: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(server.Close)
	p := proxy.New(proxy.Options{Rules: hosts.All(), Resolver: w, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	t.Cleanup(func() { _ = p.Close(context.Background()); <-served })
	w.env = append(proxy.Environment(proxy.Child{Addr: l.Addr().String()}),
		"PATH="+os.Getenv("PATH"), "HOME="+w.home, "XDG_CONFIG_HOME="+w.home, "XDG_CACHE_HOME="+w.home, "LC_ALL=C",
		"GOENV=off", "GOCACHE="+w.home+"/gocache", "GOTELEMETRY=off", "CARGO_HOME="+w.home+"/cargo", "PIP_CONFIG_FILE="+w.home+"/pip.conf",
		"PIP_NO_CACHE_DIR=1", "npm_config_userconfig="+w.home+"/npmrc", "npm_config_cache="+w.home+"/npm", "npm_config_update_notifier=false")
	if home, err := os.UserHomeDir(); err == nil {
		for name, folder := range map[string]string{"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"} { // where the tools are shims
			if os.Getenv(name) == "" {
				w.env = append(w.env, name+"="+filepath.Join(home, folder))
			} else {
				w.env = append(w.env, name+"="+os.Getenv(name))
			}
		}
	}
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	switch r.Host + r.URL.Path {
	case "npm.mirror.test/x/npm":
		v := map[string]any{"name": "npm", "version": "1.0.0", "dist": map[string]string{"tarball": "http://archives.mirror.test:8081/npm.tgz"}}
		_ = json.NewEncoder(rw).Encode(map[string]any{"name": "npm", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": v}})
	case "pip.mirror.test/simple/pip/":
		rw.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(rw, `<html><body><a href="http://wheels.mirror.test/pip-20.0-py3-none-any.whl">x</a><a href="/own/pip-21.0-py3-none-any.whl">y</a></body></html>`)
	case "cargo.mirror.test/index/config.json":
		_, _ = fmt.Fprint(rw, `{"dl":"http://crates.mirror.test:9000/{crate}/{version}","api":"http://api.mirror.test"}`)
	default:
		http.NotFound(rw, r)
	}
}

func (w *world) file(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read() map[string]Index {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out := map[string]Index{}
	for _, i := range Read(ctx, Options{Env: w.env, Dir: w.dir, Resolver: w}) {
		out[i.Tool] = i
	}
	return out
}

// needs skips what cannot be shown without a tool.
func (w *world) needs(tool string) {
	w.t.Helper()
	if lookPath(w.env, tool) == "" {
		w.t.Skipf("%s is not here, so how it is asked is not shown", tool)
	}
}

func TestEachToolIsAskedForItsOwnIndex(t *testing.T) {
	w := newWorld(t)
	w.private = []string{"pip.mirror.test", "wheels.mirror.test"}
	w.file("npmrc", "registry=http://npm.mirror.test/x/\n@corp:registry=https://user:pass@scoped.mirror.test/npm/\n//npm.mirror.test/x/:_authToken=s3cret\n")
	w.file("pip.conf", "[global]\nindex-url = http://u:s3cret@pip.mirror.test/simple\nextra-index-url = https://more.mirror.test/simple\n    https://most.mirror.test/simple\ntrusted-host = pip.mirror.test\n")
	w.file("cargo/config.toml", "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"sparse+http://cargo.mirror.test/index/\"\n")
	w.env = append(w.env, "GOPROXY=https://go.mirror.test/p|https://go2.mirror.test,direct", "GOSUMDB=sum.mirror.test")
	got := w.read()
	want := map[string][]string{
		"npm":   {"archives.mirror.test:8081", "npm.mirror.test:80", "scoped.mirror.test:443"},
		"go":    {"go.mirror.test:443", "go2.mirror.test:443", "sum.mirror.test:443"},
		"pip":   {"more.mirror.test:443", "most.mirror.test:443", "pip.mirror.test:80+private", "wheels.mirror.test:80+private"},
		"cargo": {"cargo.mirror.test:80", "crates.mirror.test:9000"},
	}
	for tool, rules := range want {
		t.Run(tool, func(t *testing.T) {
			(&world{t: t, env: w.env}).needs(tool)
			if !slices.Equal(got[tool].Rules, rules) || got[tool].Note != "" {
				t.Errorf("%+v, want %v", got[tool], rules)
			}
		})
	}
	all, err := json.Marshal(got)
	if err != nil || strings.Contains(string(all), "s3cret") || strings.Contains(string(all), "pass") {
		t.Errorf("a password was kept: %s, %v", all, err)
	}
	set, err := Set([]Index{got["npm"], got["pip"]})
	if r, ok := set.Allows("pip.mirror.test", 80); err != nil || len(got["pip"].Rules) > 0 && (!ok || !r.Private()) {
		t.Errorf("{%s}, %v", set, err)
	}
}

// A tool without settings of the test's names what it was built with; nothing of that stands here.
func TestToolsAsTheyCame(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the tools take their time")
	}
	w := newWorld(t)
	for tool, i := range w.read() {
		t.Run(tool, func(t *testing.T) {
			(&world{t: t, env: w.env}).needs(tool)
			if len(i.Rules) == 0 || len(i.Sources) == 0 {
				t.Errorf("%+v", i)
			}
			for _, r := range i.Rules {
				if rule, err := hosts.ParseRule(r); err != nil || rule.Unbounded() || rule.Private() {
					t.Errorf("%s: %v", r, err)
				}
			}
		})
	}
}

func TestWhatCannotBeReadIsEmptyAndSaysWhy(t *testing.T) {
	w := newWorld(t)
	path := t.TempDir()
	w.env = append(w.env, "PATH="+path)
	for tool, i := range w.read() {
		if len(i.Rules) != 0 || i.Note != tool+" is not installed" {
			t.Errorf("%+v", i)
		}
	}
	for tool, script := range map[string]string{
		"npm": "echo nonsense; echo '; registry = \"http://x.test/\" ; overridden by user'", "go": "echo '{'", "pip": "exit 3", "cargo": "echo error: nothing >&2; exit 101",
	} {
		if err := os.WriteFile(filepath.Join(path, tool), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range w.read() {
		if len(i.Rules) != 0 || i.Note == "" || strings.HasSuffix(i.Note, ".") {
			t.Errorf("%+v", i)
		}
	}
}

func TestHostsThatNoRuleCanName(t *testing.T) {
	tests := []struct {
		urls  []string // the first one is of the settings, the others are of the index
		inner []string // names in a private network
		rules string
		note  string
	}{
		{[]string{"https://a.test/x", "https://a.test/y", "http://a.test:8080"}, nil, "a.test:443,8080", ""},
		{[]string{"http://127.0.0.1:4873/"}, nil, "", "on this machine itself"},
		{[]string{"http://localhost:4873/"}, nil, "", "on this machine itself"},
		{[]string{"http://[::1]:4873/"}, nil, "", "on this machine itself"},
		{[]string{"http://10.0.0.5:8081/"}, nil, "10.0.0.5:8081", ""},
		{[]string{"http://[fd00::5]:8081/"}, nil, "[fd00::5]:8081", ""},
		{[]string{"https://127.1/"}, nil, "", "no host that a rule can name"},
		{[]string{"file:///srv/index"}, nil, "", "names no index"},
		{[]string{"https://corp.test/", "https://files.corp.test/", "https://cdn.test/"}, []string{"corp.test", "files.corp.test"},
			"cdn.test:443 corp.test:443+private files.corp.test:443+private", ""},
		{[]string{"https://public.test/", "https://router.test/"}, []string{"router.test"}, "public.test:443 router.test:443", ""},
	}
	for _, tt := range tests {
		a := &asking{o: Options{Resolver: &world{private: tt.inner}}, index: Index{Tool: "npm"}}
		for i, u := range tt.urls {
			if i == 0 {
				a.source(u)
			} else {
				a.files(u)
			}
		}
		got := a.done(t.Context())
		if strings.Join(got.Rules, " ") != tt.rules || (got.Note == "") != (tt.note == "") || !strings.Contains(got.Note, tt.note) {
			t.Errorf("%v: %+v", tt.urls, got)
		}
	}
	a := &asking{o: Options{Resolver: &world{}}}
	for i := range 100 {
		a.files(fmt.Sprintf("https://h%d.test/", i))
	}
	if got := a.done(t.Context()); len(got.Rules) != maxHosts || got.Note == "" {
		t.Errorf("%d hosts, %q", len(got.Rules), got.Note)
	}
}

// A repository has no say: what lies in a folder of a task is not looked at, since the tools run elsewhere.
func TestFilesOfARepositoryAreNotRead(t *testing.T) {
	w := newWorld(t)
	w.needs("npm")
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, ".npmrc"), []byte("registry=http://evil.test/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(tree)
	w.file("npmrc", "registry=http://npm.mirror.test/x/\n")
	a := &asking{o: Options{Env: w.env, Dir: w.dir, Resolver: w}, index: Index{Tool: "npm"}}
	readNpm(t.Context(), a)
	if got := a.done(t.Context()); slices.ContainsFunc(got.Rules, func(r string) bool { return strings.Contains(r, "evil") }) || len(got.Rules) == 0 {
		t.Errorf("%+v", got)
	}
}
