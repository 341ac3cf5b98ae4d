package proxy

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// These tests run the programs that agents run, through a real proxy, to a server of the test with a certificate of the
// test: each reaches an allowed host, and each is refused another one and says so. None of them can resolve either
// name, so what arrives came through the proxy.

// authority makes a certificate for a name, signed by itself, and returns it with its file.
func authority(t *testing.T, name string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// world is a TLS server that is a web page, a git host and an index for each package tool.
func newWorld(t *testing.T) (addr, caFile string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "hello from the other side") })
	serveGit(t, mux)
	serveIndexes(t, mux)
	cert, file := authority(t, "allowed.test")
	s := httptest.NewUnstartedServer(mux)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), file
}

func serveGit(t *testing.T, mux *http.ServeMux) {
	t.Helper()
	exe, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatalf("git is needed: %v", err)
	}
	root := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", filepath.Join(root, "repo.git")},
		{"-C", filepath.Join(root, "repo.git"), "config", "http.receivepack", "true"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	mux.Handle("/git/", &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(exe)), "git-http-backend"), Root: "/git",
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + root},
	})
}

// serveIndexes answers for one package, "thing" 1.0.0, in the form of each tool.
func serveIndexes(t *testing.T, mux *http.ServeMux) {
	t.Helper()
	var wheel bytes.Buffer
	z := zip.NewWriter(&wheel)
	for name, text := range map[string]string{
		"thing.py": "x = 1\n", "thing-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0.0\n",
		"thing-1.0.0.dist-info/WHEEL":  "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"thing-1.0.0.dist-info/RECORD": "",
	} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	_ = z.Close()
	sum := sha256.Sum256(wheel.Bytes())
	text := func(path, kind, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = fmt.Fprint(w, body)
		})
	}
	packument, _ := json.Marshal(map[string]any{"name": "thing", "dist-tags": map[string]string{"latest": "1.0.0"},
		"versions": map[string]any{"1.0.0": map[string]any{"name": "thing", "version": "1.0.0", "dist": map[string]string{"tarball": "https://allowed.test/t.tgz"}}}})
	text("/npm/thing", "application/json", string(packument))
	text("/simple/thing/", "text/html", fmt.Sprintf(`<html><body><a href="/w/thing-1.0.0-py3-none-any.whl#sha256=%x">x</a></body></html>`, sum))
	text("/w/thing-1.0.0-py3-none-any.whl", "application/octet-stream", wheel.String())
	text("/goproxy/example.test/thing/@v/list", "text/plain", "v1.0.0\n")
	text("/goproxy/example.test/thing/@v/v1.0.0.info", "application/json", `{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`)
	text("/goproxy/example.test/thing/@v/v1.0.0.mod", "text/plain", "module example.test/thing\n")
	text("/cargo/config.json", "application/json", `{"dl":"https://allowed.test/crates"}`)
	text("/cargo/th/in/thing", "text/plain", fmt.Sprintf(`{"name":"thing","vers":"1.0.0","deps":[],"cksum":"%064x","features":{},"yanked":false}`+"\n", 1))
}

// bench is a place to run a program in, with nothing of this machine but its programs.
type bench struct {
	t   *testing.T
	dir string
	env []string
}

func newBench(t *testing.T, r *rig, caFile string) *bench {
	dir := t.TempDir()
	b := &bench{t: t, dir: dir, env: append(Environment(Child{Addr: r.addr}),
		"PATH="+os.Getenv("PATH"), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t.test", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t.test",
		"SSL_CERT_FILE="+caFile, "CURL_CA_BUNDLE="+caFile, "GIT_SSL_CAINFO="+caFile, "NODE_EXTRA_CA_CERTS="+caFile, "PIP_CERT="+caFile,
		"CARGO_HTTP_CAINFO="+caFile, "CARGO_HOME="+dir+"/cargo", "CARGO_NET_RETRY=0", "PIP_NO_CACHE_DIR=1", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"PIP_RETRIES=1", "PIP_CONFIG_FILE="+os.DevNull, "npm_config_cache="+dir+"/npm", "npm_config_fetch_retries=0", "npm_config_update_notifier=false",
		"npm_config_userconfig="+dir+"/npmrc", "npm_config_cafile="+caFile,
		"GOPATH="+dir+"/go", "GOCACHE="+dir+"/gocache", "GOENV=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GONOSUMDB=*", "GONOSUMCHECK=1",
		"GOTELEMETRY=off")}
	if home, err := os.UserHomeDir(); err == nil && os.Getenv("RUSTUP_HOME") == "" {
		b.env = append(b.env, "RUSTUP_HOME="+filepath.Join(home, ".rustup")) // where cargo is a shim
	}
	return b
}

func (b *bench) file(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = b.dir, b.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// python returns the interpreter itself: what PATH has may be a shim that needs the user's home.
func python(t *testing.T) string {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skipf("python3 is not here, so its way through the proxy is not shown: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func TestRealPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: real programs take their time")
	}
	const fetch = "import urllib.request as u, sys; print(u.urlopen(sys.argv[1]).read().decode())"
	tests := []struct {
		name  string
		setup func(*bench)
		args  func(host string) []string // HOST stands for the host
		want  string
		says  []string // one of these is in the output of a refusal
	}{
		{"curl", nil, args("curl", "-sS", "https://HOST/hello"), "hello from the other side", []string{"403"}},
		{"curl, plain", nil, args("curl", "-sS", "--fail-with-body", "http://HOST/hello"), "hello from the other side", []string{"is not on this task's list of hosts"}},
		{"wget", nil, args("wget", "-q", "-O-", "--ca-certificate=CA", "https://HOST/hello"), "hello from the other side", []string{""}},
		{"git", nil, args("git", "ls-remote", "https://HOST/git/repo.git"), "", []string{"403"}},
		{"npm", nil, args("npm", "view", "thing", "version", "--registry=https://HOST/npm/"), "1.0.0", []string{"403", "Forbidden", "Blocked by the Termic sandbox"}},
		{"python", nil, func(h string) []string { return []string{python(t), "-c", fetch, "https://" + h + "/hello"} }, "hello from the other side",
			[]string{"Blocked by the Termic sandbox: evil.test is not on this task's list of hosts"}},
		{"pip", nil, func(h string) []string {
			return []string{python(t), "-m", "pip", "download", "--no-deps", "-d", "wheels", "-i", "https://" + h + "/simple", "thing"}
		}, "", []string{"403", "Blocked by the Termic sandbox"}},
		{"go", func(b *bench) { b.file("go.mod", "module m.test\n\ngo 1.21\n") },
			args("env", "GOPROXY=https://HOST/goproxy", "go", "list", "-m", "-versions", "example.test/thing"), "v1.0.0",
			[]string{"Blocked by the Termic sandbox: evil.test is not on this task's list of hosts"}},
		{"cargo", func(b *bench) {
			b.file("Cargo.toml", "[package]\nname=\"p\"\nversion=\"0.1.0\"\nedition=\"2021\"\n[dependencies]\nthing={version=\"1\",registry=\"t\"}\n")
			b.file("src/lib.rs", "")
		}, args("cargo", "--config", `registries.t.index="sparse+https://HOST/cargo/"`, "generate-lockfile"), "", []string{"403"}},
	}
	at, caFile := newWorld(t)
	plain := origin(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "hello from the other side") })
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{}, "allowed.test")
			r.place("allowed.test", "203.0.113.1", 443, at)
			r.place("allowed.test", "203.0.113.1", 80, plain)
			b := newBench(t, r, caFile)
			if tt.setup != nil {
				tt.setup(b)
			}
			good, bad := tt.args("allowed.test"), tt.args("evil.test")
			for i := range good {
				good[i], bad[i] = strings.ReplaceAll(good[i], "CA", caFile), strings.ReplaceAll(bad[i], "CA", caFile)
			}
			if _, err := exec.LookPath(good[0]); err != nil {
				t.Skipf("%s is not here, so its way through the proxy is not shown", good[0])
			}
			out, err := b.run(good...)
			if err != nil || !strings.Contains(out, tt.want) {
				t.Fatalf("%v: %v\n%s", good, err, out)
			}
			if d := r.next(); d.Verdict != Allowed || d.Host != "allowed.test" {
				t.Errorf("told %+v", d)
			}
			out, err = b.run(bad...)
			if err == nil || !containsAny(out, tt.says) {
				t.Errorf("%v: %v, and does not say why:\n%s", bad, err, out)
			}
			if last := r.lastOf("evil.test"); last.Verdict != Blocked || last.Reason != NotListed {
				t.Errorf("told %+v", last)
			}
		})
	}
}

// TestGitBothWays clones, commits and pushes over https.
func TestGitBothWays(t *testing.T) {
	at, caFile := newWorld(t)
	r := newRig(t, Options{}, "allowed.test")
	r.place("allowed.test", "203.0.113.1", 443, at)
	b := newBench(t, r, caFile)
	b.file("big", strings.Repeat("0123456789abcdef\n", 100_000))
	for _, args := range [][]string{
		{"git", "clone", "-q", "https://allowed.test/git/repo.git", "w"},
		{"cp", "big", "w/big"},
		{"git", "-C", "w", "add", "big"},
		{"git", "-C", "w", "commit", "-q", "-m", "big"},
		{"git", "-C", "w", "push", "-q", "origin", "HEAD:main"},
		{"git", "clone", "-q", "https://allowed.test/git/repo.git", "again"},
		{"cmp", "big", "again/big"},
	} {
		if out, err := b.run(args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

// TestNodesFetch holds what the documentation says of Node: old ones do not know the proxy, and so reach nothing.
func TestNodesFetch(t *testing.T) {
	at, caFile := newWorld(t)
	r := newRig(t, Options{}, "allowed.test")
	r.place("allowed.test", "203.0.113.1", 443, at)
	b := newBench(t, r, caFile)
	version, err := b.run("node", "-p", "let [a,b]=process.versions.node.split('.').map(Number); a>=24||a==22&&b>=21")
	if err != nil {
		t.Skipf("node is not here, so its way through the proxy is not shown: %v", err)
	}
	out, err := b.run("node", "-e", "fetch('https://allowed.test/hello').then(r=>r.text()).then(console.log,e=>{console.log(e.cause?.code);process.exit(1)})")
	if knows := strings.TrimSpace(version) == "true"; knows != (err == nil) || !knows && !strings.Contains(out, "ENOTFOUND") && !strings.Contains(out, "EAI_AGAIN") {
		t.Errorf("knows the proxy: %v; %v\n%s", knows, err, out)
	}
}

func args(words ...string) func(string) []string {
	return func(host string) []string {
		out := make([]string, len(words))
		for i, w := range words {
			out[i] = strings.ReplaceAll(w, "HOST", host)
		}
		return out
	}
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func (r *rig) lastOf(host string) Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.decisions) - 1; i >= 0; i-- {
		if r.decisions[i].Host == host {
			return r.decisions[i]
		}
	}
	return Decision{}
}
