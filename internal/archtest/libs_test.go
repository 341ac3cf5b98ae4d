package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A library is one module from outside. Only the packages in by may import it, in files that are not
// tests; tests are free to, since what they use is in no release. by nil: any package.
type library struct {
	module string
	by     []string
	why    string
}

var libraries = []library{
	{"github.com/aymanbagabas/go-udiff", []string{"clientsetup"}, "what will be written is shown where it is planned"},
	{"github.com/charmbracelet/x/ansi", []string{"internal/ptyhost", "internal/core", "internal/cli"}, "what a terminal says is parsed where it arrives"},
	{"github.com/charmbracelet/x/vt", []string{"internal/ptyhost"}, "before version 1: one package wraps it, so that it can be replaced"},
	{"github.com/creack/pty", []string{"internal/ptyhost"}, "all children of terminals have one owner"},
	{"github.com/fsnotify/fsnotify", []string{"settings", "sandbox"}, "watched are the settings, and what a cage must not write"},
	{"github.com/godbus/dbus/v5", []string{"internal/keyring"}, "the session's bus is asked for its keyring, and for nothing else"},
	{"github.com/google/go-cmp", []string{}, "for tests"},
	{"github.com/netresearch/go-cron", []string{"internal/when"}, "what words of cron mean is decided in one place"},
	{"github.com/oklog/ulid/v2", []string{"internal/ids"}, "the form of an id is known to one package"},
	{"github.com/pelletier/go-toml/v2", []string{"settings", "internal/tomledit", "clientsetup"}, "TOML is read where it is edited"},
	{"github.com/prometheus/client_model", []string{"internal/check"}, "the types of what common reads"},
	{"github.com/prometheus/common", []string{"internal/check"}, "pages of metrics are read in one place"},
	{"github.com/rogpeppe/go-internal", []string{}, "for tests"},
	{"github.com/tailscale/hujson", []string{"clientsetup"}, "JSON of other programs is edited there, nowhere else"},
	{"github.com/tidwall/gjson", []string{"clientsetup"}, "JSON of other programs is edited there, nowhere else"},
	{"github.com/wailsapp/wails/v2", []string{"app"}, "everything but app builds without GTK and WebKit"},
	{"github.com/yuin/goldmark", []string{"build/site"}, "pages are turned into HTML for the site alone"},
	{"go.uber.org/goleak", []string{}, "for tests"},
	{"go4.org/netipx", []string{"internal/netgroup"}, "sets of addresses have one form"},
	{"go.yaml.in/yaml/v3", []string{"internal/repofile"}, "the one YAML file is read in one place"},
	{"golang.org/x/net", []string{"sandbox/hosts", "sandbox/proxy"}, "names and proxies are read where they are judged"},
	{"golang.org/x/sys", nil, "of the Go project"},
	{"golang.org/x/term", []string{"internal/cli"}, "the person's terminal is touched by the CLI alone"},
	{"modernc.org/sqlite", []string{"internal/store"}, "the database has one owner"},
	{"mvdan.cc/sh/v3", []string{"internal/agent", "internal/check", "internal/cli", "internal/core", "internal/shellenv", "internal/childproc"}, "command lines are quoted and split by it, never by hand"},
	{"pgregory.net/rapid", []string{}, "for tests"},
}

func TestLibrariesHaveTheirUsers(t *testing.T) {
	report(t, checkLibraries(libraries, load(t)))
}

func TestEveryRequirementIsKnown(t *testing.T) {
	direct := directRequirements(t)
	known := map[string]bool{}
	for _, l := range libraries {
		known[l.module] = true
		if !slices.Contains(direct, l.module) {
			t.Errorf("%s: in the table of libs_test.go, but go.mod does not require it", l.module)
		}
	}
	for _, module := range direct {
		if !known[module] {
			t.Errorf("%s: required by go.mod, but has no row in libs_test.go that says who may use it", module)
		}
	}
}

func TestRulesOfLibrariesCanFail(t *testing.T) {
	tests := []struct {
		path, imports string
		bad           bool
	}{
		{"internal/ptyhost/a.go", "github.com/charmbracelet/x/vt", false},
		{"internal/core/a.go", "github.com/charmbracelet/x/vt", true},
		{"internal/core/a_test.go", "github.com/charmbracelet/x/vt", false},
		{"internal/core/a.go", "github.com/wailsapp/wails/v2/pkg/runtime", true},
		{"internal/core/a.go", "pgregory.net/rapid", true},
		{"internal/core/a.go", "golang.org/x/sys/unix", false},
		{"internal/core/a.go", "example.org/unheard/of", true},
	}
	for _, tt := range tests {
		src, err := parseText(tt.path, fmt.Sprintf("package p\n\nimport _ %q\n", tt.imports))
		if err != nil {
			t.Fatal(err)
		}
		if got := checkLibraries(libraries, []*source{src}); (len(got) > 0) != tt.bad {
			t.Errorf("%s importing %s: got %q, want a violation: %v", tt.path, tt.imports, got, tt.bad)
		}
	}
}

func checkLibraries(libs []library, files []*source) []string {
	var out []string
	for _, f := range files {
		if f.test || isKit(f.pkg) {
			continue
		}
		for _, imp := range f.imports() {
			first, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(first, ".") {
				continue // of the standard library, or ours
			}
			lib, ok := libraryOf(libs, imp)
			switch {
			case !ok:
				out = append(out, fmt.Sprintf("%s imports %s: no direct requirement of go.mod that libs_test.go knows", f.path, imp))
			case lib.by != nil && !slices.Contains(lib.by, f.pkg):
				out = append(out, fmt.Sprintf("%s imports %s: %s", f.path, imp, lib.why))
			}
		}
	}
	return out
}

func libraryOf(libs []library, imp string) (library, bool) {
	for _, l := range libs {
		if imp == l.module || strings.HasPrefix(imp, l.module+"/") {
			return l, true
		}
	}
	return library{}, false
}

// directRequirements returns the modules that go.mod requires without the mark `// indirect`.
func directRequirements(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repoRoot, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	in := false
	for _, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "require (":
			in = true
		case line == ")":
			in = false
		case in && line != "" && !strings.HasSuffix(line, "// indirect"):
			out = append(out, strings.Fields(line)[0])
		case strings.HasPrefix(line, "require ") && !strings.HasSuffix(line, "// indirect"):
			out = append(out, strings.Fields(line)[1])
		}
	}
	if len(out) == 0 {
		t.Fatal("go.mod requires nothing: it was not understood")
	}
	return out
}
