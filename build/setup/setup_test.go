// Package setup_test runs the set-up scripts against a server on the loopback address: what they take as
// found, what they download, and what they refuse. It reaches no other host and installs nothing.
package setup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// scripts opens the scripts itself, so that the cache of test results knows what the tests depend on:
// what a child opens is not seen.
func scripts(t *testing.T) {
	t.Helper()
	for _, name := range []string{"lib.sh", "packages.sh", "pins.sh", "toolchain.sh"} {
		if _, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
}

// A mirror serves archives the way the makers of Go and Node do, and counts the downloads.
type mirror struct {
	*httptest.Server
	downloads atomic.Int32
	cutOff    bool
	goSum     string
	nodeSum   string
}

// newMirror serves a Go and a Node that answer for their versions and do nothing else.
func newMirror(t *testing.T, cutOff bool) *mirror {
	t.Helper()
	goArchive := archive(t, map[string]string{
		"go/bin/go": "#!/bin/sh\necho go9.8.7\n",
	})
	nodeArchive := archive(t, map[string]string{
		"node-v9.8.7/bin/node": "#!/bin/sh\necho 99.8.7\n",
		"node-v9.8.7/bin/npm":  "#!/bin/sh\necho 1.0.0\n",
	})
	m := &mirror{cutOff: cutOff, goSum: sum(goArchive), nodeSum: sum(nodeArchive)}
	serve := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			m.downloads.Add(1)
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			if m.cutOff {
				body = body[:len(body)/2]
			}
			if _, err := w.Write(body); err != nil {
				t.Logf("serving: %v", err)
			}
			// Fewer bytes than promised: the server drops the connection when the handler returns.
		}
	}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	mux := http.NewServeMux()
	mux.HandleFunc("/go/go9.8.7.linux-"+runtime.GOARCH+".tar.gz", serve(goArchive))
	mux.HandleFunc("/node/v99.8.7/node-v99.8.7-linux-"+arch+".tar.gz", serve(nodeArchive))
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

// A bench is one machine without Go and Node, or with the ones that the test puts in its bin folder.
type bench struct {
	bin, tools string
	env        []string
}

func newBench(t *testing.T, m *mirror) *bench {
	t.Helper()
	scripts(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skipf("set-up downloads nothing for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	dir := t.TempDir()
	b := &bench{bin: filepath.Join(dir, "bin"), tools: filepath.Join(dir, "tools")}
	if err := os.Mkdir(b.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"bash", "sh", "env", "uname", "sort", "head", "mktemp", "mkdir", "rm", "mv", "ln", "tar", "gzip", "sha256sum", "flock", "dirname", "id", "curl", "cat",
	} {
		b.link(t, name)
	}
	b.env = []string{
		"PATH=" + b.bin, "HOME=" + dir, "TOOLS_DIR=" + b.tools,
		"GO_VERSION=9.8.7", "GO_BASE_URL=" + m.URL + "/go", "GO_SHA256_AMD64=" + m.goSum, "GO_SHA256_ARM64=" + m.goSum,
		"NODE_VERSION=99.8.7", "NODE_BASE_URL=" + m.URL + "/node", "NODE_SHA256_AMD64=" + m.nodeSum, "NODE_SHA256_ARM64=" + m.nodeSum,
	}
	return b
}

// link makes one of this machine's programs available on the bench.
func (b *bench) link(t *testing.T, name string) {
	t.Helper()
	p, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("this machine has no %s, which the set-up scripts need", name)
	}
	if err := os.Symlink(p, filepath.Join(b.bin, name)); err != nil {
		t.Fatal(err)
	}
}

// program writes a script onto the bench's PATH.
func (b *bench) program(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run runs toolchain.sh and returns what it said.
func (b *bench) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	script, err := filepath.Abs("toolchain.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", append([]string{script}, args...)...)
	cmd.Env = b.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (b *bench) has(name string) bool {
	_, err := os.Stat(filepath.Join(b.tools, name))
	return err == nil
}

// leftovers are what a broken-off download must not leave behind.
func (b *bench) leftovers(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(b.tools)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.Name() != ".lock" {
			out = append(out, e.Name())
		}
	}
	return out
}

func TestMissingToolchainsAreDownloaded(t *testing.T) {
	m := newMirror(t, false)
	b := newBench(t, m)
	if out, err := b.run(t, "go", "node"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"go/bin/go", "node/bin/node", "node/bin/npm"} {
		if !b.has(name) {
			t.Errorf("%s is missing afterwards", name)
		}
	}
	// The second time nothing is downloaded, and nothing said.
	out, err := b.run(t, "go", "node")
	if err != nil || out != "" {
		t.Errorf("second run: %v, %q", err, out)
	}
	if n := m.downloads.Load(); n != 2 {
		t.Errorf("%d downloads, want 2", n)
	}
}

func TestToolchainsAsFound(t *testing.T) {
	tests := []struct {
		name, program, script string
		fits                  bool
	}{
		{"go new enough", "go", "echo go1.26.0", true},
		{"go newer", "go", "echo go1.27.1", true},
		{"go much newer", "go", "echo go2.0.0", true},
		{"go too old", "go", "echo go1.19.8", false},
		{"go before its release", "go", "echo go1.26rc2", false},
		{"go that cannot fetch the toolchain it needs", "go", "echo go1.26.0; exit 1", false},
		{"node new enough", "node", "echo 20.19.0", true},
		{"node newer", "node", "echo 22.12.0", true},
		{"node too old", "node", "echo 18.20.4", false},
		{"node that the build tool leaves out", "node", "echo 22.11.0", false},
		{"node between two supported lines", "node", "echo 21.7.3", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMirror(t, false)
			b := newBench(t, m)
			b.program(t, tt.program, tt.script)
			b.program(t, "npm", "echo 10.0.0")
			if out, err := b.run(t, tt.program); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if downloaded := m.downloads.Load() > 0; downloaded == tt.fits {
				t.Errorf("downloaded: %v, fits: %v", downloaded, tt.fits)
			}
		})
	}
}

func TestNodeWithoutNpmIsNotEnough(t *testing.T) {
	m := newMirror(t, false)
	b := newBench(t, m)
	b.program(t, "node", "echo 22.20.0")
	if out, err := b.run(t, "node"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if m.downloads.Load() != 1 {
		t.Error("a Node without npm was taken")
	}
}

func TestRefusedDownloads(t *testing.T) {
	other := strings.Repeat("0", 64)
	tests := []struct {
		name   string
		cutOff bool
		env    []string
		want   string
	}{
		{"wrong checksum", false, []string{"GO_SHA256_AMD64=" + other, "GO_SHA256_ARM64=" + other}, "nothing of it was used"},
		{"cut off", true, nil, "cut off"},
		{"not there", false, []string{"GO_VERSION=9.8.8"}, "failed or was cut off"},
		{"plain http elsewhere", false, []string{"GO_BASE_URL=http://192.0.2.1/go"}, "refusing to download"},
		{"an address that only looks like the loopback", false, []string{"GO_BASE_URL=http://127.0.0.1.example.org/go"}, "refusing to download"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, newMirror(t, tt.cutOff))
			b.env = append(b.env, tt.env...)
			out, err := b.run(t, "go")
			if err == nil {
				t.Fatalf("accepted:\n%s", out)
			}
			if !strings.Contains(out, tt.want) || !strings.Contains(out, "set-up: hint:") {
				t.Errorf("no word %q, or no hint, in:\n%s", tt.want, out)
			}
			if left := b.leftovers(t); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// TestCutOffDownloadByWget: the other downloader must notice as well.
func TestCutOffDownloadByWget(t *testing.T) {
	b := newBench(t, newMirror(t, true))
	if err := os.Remove(filepath.Join(b.bin, "curl")); err != nil {
		t.Fatal(err)
	}
	b.link(t, "wget")
	out, err := b.run(t, "go")
	if err == nil {
		t.Fatalf("accepted:\n%s", out)
	}
	if left := b.leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestUnpackingThatBrokeOffIsDoneAgain(t *testing.T) {
	m := newMirror(t, false)
	b := newBench(t, m)
	if err := os.MkdirAll(filepath.Join(b.tools, "go-9.8.7.unpacking", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := b.run(t, "go"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !b.has("go/bin/go") || b.has("go-9.8.7.unpacking") {
		t.Error("the half-unpacked folder was not replaced by a whole one")
	}
}

// TestPackagesSayWhatIsMissing runs packages.sh where dpkg knows of nothing installed.
func TestPackagesSayWhatIsMissing(t *testing.T) {
	b := newBench(t, newMirror(t, false))
	b.program(t, "dpkg-query", "exit 1")
	b.program(t, "apt-get", "echo must not run; exit 1")
	script, err := filepath.Abs("packages.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", script, "window", "test", "kernels")
	cmd.Env = append(b.env, "PACKAGES_DRY_RUN=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"libwebkit2gtk-4.1-dev", "build-essential", "xvfb", "chromium", "qemu-system-x86"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no word about %s in %s", want, out)
		}
	}
	b.program(t, "google-chrome", "")
	cmd = exec.Command("bash", script, "test")
	cmd.Env = append(b.env, "PACKAGES_DRY_RUN=1")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "chromium") {
		t.Errorf("a browser is there, and yet: %v\n%s", err, out)
	}
}

// TestPinsAreWhole: a pin is a version with a checksum for each processor.
func TestPinsAreWhole(t *testing.T) {
	script := ". ./pins.sh; for v in GO NODE; do for a in AMD64 ARM64; do n=${v}_SHA256_$a; echo ${!n}; done; n=${v}_BASE_URL; echo ${!n}; done"
	out, err := exec.Command("bash", "-euc", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range strings.Fields(string(out)) {
		if strings.Contains(line, ":") {
			if !strings.HasPrefix(line, "https://") {
				t.Errorf("%s: an official archive comes over https", line)
			}
			continue
		}
		if b, err := hex.DecodeString(line); err != nil || len(b) != sha256.Size {
			t.Errorf("%q is no SHA-256", line)
		}
		if seen[line] {
			t.Errorf("%s stands twice", line)
		}
		seen[line] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d checksums, want 4", len(seen))
	}
}

// archive makes a tar.gz of executable files.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	w := tar.NewWriter(zip)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
