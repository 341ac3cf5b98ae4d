package archtest

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A needle is text that must stand nowhere in the tree. Needles are put together from pieces, so that
// this file does not hold them either.
type needle struct {
	text string
	why  string
}

// machinePaths are folders of one machine. They count only at the start of a path.
var machinePaths = []needle{
	{"/wo" + "rk/", "a path of one machine"},
	{"/ro" + "ot/", "a path of one machine"},
}

// registryHosts are the hosts that package tools use by default. Which ones a person uses is in their
// own configuration, where set-up and the registry preset find it.
var registryHosts = []needle{
	{"registry.npm" + "js.org", "a package registry's host"},
	{"registry.yarn" + "pkg.com", "a package registry's host"},
	{"proxy.go" + "lang.org", "a package registry's host"},
	{"sum.go" + "lang.org", "a package registry's host"},
	{"deb.deb" + "ian.org", "a package registry's host"},
	{"security.deb" + "ian.org", "a package registry's host"},
	{"archive.ub" + "untu.com", "a package registry's host"},
	{"pypi.py" + "thon.org", "a package registry's host"},
	{"files.python" + "hosted.org", "a package registry's host"},
	{"crates" + ".io", "a package registry's host"},
}

func TestTreeNamesNoMachineAndNoRegistry(t *testing.T) {
	hosts := append(append([]needle{}, registryHosts...), configuredHosts(t)...)
	scanned := 0
	walk(t, func(rel string) {
		text, err := os.ReadFile(filepath.Join(repoRoot, filepath.FromSlash(rel)))
		if err != nil {
			if os.IsNotExist(err) {
				return
			}
			t.Fatal(err)
		}
		scanned++
		if bytes.IndexByte(text, 0) >= 0 {
			return // a picture or another binary file
		}
		report(t, scan(rel, text, machinePaths, hosts))
	})
	if scanned < 20 {
		t.Fatalf("only %d files were scanned", scanned)
	}
}

func TestLockFilesNameNoRegistry(t *testing.T) {
	walk(t, func(rel string) {
		if filepath.Base(rel) != "package-lock.json" {
			return
		}
		text, err := os.ReadFile(filepath.Join(repoRoot, filepath.FromSlash(rel)))
		if err != nil {
			t.Fatal(err)
		}
		report(t, scanLock(rel, text))
		settings, err := os.ReadFile(filepath.Join(repoRoot, filepath.FromSlash(filepath.Dir(rel)), ".npmrc"))
		if err != nil {
			t.Errorf("%s: the .npmrc beside it keeps registry hosts out of it, and is missing: %v", rel, err)
		} else if !bytes.Contains(settings, []byte("omit-lockfile-registry-resolved=true")) {
			t.Errorf("%s: its .npmrc does not say omit-lockfile-registry-resolved=true", rel)
		}
	})
}

func TestRulesOfTheTreeCanFail(t *testing.T) {
	for _, n := range machinePaths {
		for text, bad := range map[string]bool{
			"see " + n.text + "x":            true,
			"\"" + n.text + "x\"":            true,
			n.text:                           true,
			"a/b" + n.text + "x":             false,
			"$HOME" + n.text + "x":           false,
			"https://host" + n.text + "page": false,
		} {
			if got := scan("f", []byte(text), machinePaths, nil); (len(got) > 0) != bad {
				t.Errorf("%q: got %q, want a violation: %v", text, got, bad)
			}
		}
	}
	for _, n := range registryHosts {
		if got := scan("f", []byte("https://"+n.text+"/x"), nil, registryHosts); len(got) == 0 {
			t.Errorf("%q was not found", n.text)
		}
	}
	lock := `{"packages": {"node_modules/a": {"version": "1.0.0", "resolved": "https://host.example/a.tgz"}, "b": {"resolved": "local", "link": true}}}`
	if got := scanLock("package-lock.json", []byte(lock)); len(got) != 1 {
		t.Errorf("want one violation, got %q", got)
	}
}

// scan looks for the needles; a machine's path counts only where a path begins.
func scan(rel string, text []byte, paths, hosts []needle) []string {
	var out []string
	for _, n := range paths {
		for rest, offset := text, 0; ; {
			i := bytes.Index(rest, []byte(n.text))
			if i < 0 {
				break
			}
			at := offset + i
			if at == 0 || !partOfPath(text[at-1]) {
				out = append(out, fmt.Sprintf("%s:%d: %s", rel, 1+bytes.Count(text[:at], []byte("\n")), n.why))
			}
			rest, offset = rest[i+1:], offset+i+1
		}
	}
	for _, n := range hosts {
		if i := bytes.Index(text, []byte(n.text)); i >= 0 {
			out = append(out, fmt.Sprintf("%s:%d: %s", rel, 1+bytes.Count(text[:i], []byte("\n")), n.why))
		}
	}
	return out
}

// partOfPath tells whether a byte before a slash makes it the middle of a longer path.
func partOfPath(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b == '}' || b == ')' || b == '~' || b == '*' ||
		'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

var resolved = regexp.MustCompile(`"resolved":\s*"(https?|git[^"]*)://([^"/]+)`)

func scanLock(rel string, text []byte) []string {
	var out []string
	for _, m := range resolved.FindAllSubmatch(text, -1) {
		out = append(out, fmt.Sprintf("%s: a package is tied to the host %s", rel, m[2]))
	}
	return out
}

// configuredHosts are the registry hosts that this machine's own tools are set up with: a private
// mirror's name leaks as easily as a public one's.
func configuredHosts(t *testing.T) []needle {
	t.Helper()
	var urls []string
	if out, err := exec.Command("go", "env", "GOPROXY").Output(); err == nil {
		urls = append(urls, strings.FieldsFunc(strings.TrimSpace(string(out)), func(r rune) bool { return r == ',' || r == '|' })...)
	}
	for _, v := range []string{"npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		urls = append(urls, os.Getenv(v))
	}
	if home, err := os.UserHomeDir(); err == nil {
		urls = append(urls, urlsIn(filepath.Join(home, ".npmrc"))...)
	}
	lists, _ := filepath.Glob("/etc/apt/sources.list.d/*") // the pattern is well formed
	for _, p := range append(lists, "/etc/apt/sources.list") {
		urls = append(urls, urlsIn(p)...)
	}
	var out []needle
	for _, u := range urls {
		p, err := url.Parse(u)
		if err != nil || p.Hostname() == "" || net.ParseIP(p.Hostname()) != nil || !strings.Contains(p.Hostname(), ".") {
			continue
		}
		out = append(out, needle{p.Hostname(), "the host of a registry that this machine uses"})
	}
	return out
}

var urlPattern = regexp.MustCompile(`https?://[^\s"'\]]+`)

// urlsIn returns the URLs in a file, none if it cannot be read.
func urlsIn(p string) []string {
	text, err := os.ReadFile(p)
	if err != nil {
		return nil
	}
	return urlPattern.FindAllString(string(text), -1)
}
