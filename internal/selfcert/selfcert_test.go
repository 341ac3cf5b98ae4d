package selfcert

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"termic/internal/fault"
)

func open(t *testing.T, path string, at time.Time, hosts ...string) *Identity {
	t.Helper()
	i, err := openAt(path, hosts, nil, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestThePinHolds: over restarts, new names, the end of a certificate and a clock that jumps, the pin is the same, and the file
// is its owner's alone.
func TestThePinHolds(t *testing.T) {
	path, at := filepath.Join(t.TempDir(), "key.pem"), time.Now()
	first := open(t, path, at, "localhost", "127.0.0.1")
	pin, leaf := first.Fingerprint(), first.cert.Leaf
	if again := open(t, path, at.Add(24*time.Hour), "127.0.0.1"); again.Fingerprint() != pin || !again.cert.Leaf.Equal(leaf) {
		t.Error("a restart made another certificate")
	}
	for name, i := range map[string]*Identity{
		"another name": open(t, path, at, "termic.example"), "its last month": open(t, path, at.Add(lifetime-renewIn+time.Hour), "localhost"),
		"long after": open(t, path, at.Add(3*lifetime), "localhost"), "long before": open(t, path, at.Add(-lifetime), "localhost"),
	} {
		if i.Fingerprint() != pin {
			t.Errorf("%s: another pin", name)
		}
		if i.cert.Leaf.Equal(leaf) {
			t.Errorf("%s: the old certificate", name)
		}
		if err := i.cert.Leaf.VerifyHostname(i.hosts[0]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
}

// TestRenewsWhileItServes: a certificate that runs out while nobody restarts is made anew for the next connection.
func TestRenewsWhileItServes(t *testing.T) {
	at := time.Now()
	i, err := openAt(filepath.Join(t.TempDir(), "k"), []string{"localhost"}, nil, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	pin := i.Fingerprint()
	at = at.Add(lifetime)
	c, err := i.Certificate(nil)
	if err != nil || !c.Leaf.NotAfter.After(at) || Pin(c.Leaf) != pin {
		t.Errorf("%v %v", c.Leaf.NotAfter, err)
	}
}

// TestABadFileIsNoNewKey: what cannot be used is told, never replaced.
func TestABadFileIsNoNewKey(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	open(t, good, time.Now(), "localhost")
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(string) error{
		"open to others": func(p string) error {
			return errors.Join(os.WriteFile(p, text, 0o600), os.Chmod(p, 0o644))
		},
		"a link":  func(p string) error { return os.Symlink(good, p) },
		"empty":   func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"cut off": func(p string) error { return os.WriteFile(p, text[:80], 0o600) },
	} {
		p := filepath.Join(dir, name)
		if err := put(p); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(p)
		_, err := Open(p, []string{"localhost"}, nil)
		if f := fault.From(err); f == nil || f.Hint == "" || f.Code == fault.Internal {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(p); string(after) != string(before) {
			t.Errorf("%s: it was changed", name)
		}
	}
}

// TestPinned: a client connects to the pinned key alone.
func TestPinned(t *testing.T) {
	ours, theirs := open(t, filepath.Join(t.TempDir(), "a"), time.Now(), "localhost"), open(t, filepath.Join(t.TempDir(), "b"), time.Now(), "localhost")
	for name, c := range map[string]struct {
		server *Identity
		want   error
	}{"ours": {ours, nil}, "another key": {theirs, ErrPin}} {
		l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: c.server.Certificate})
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			if conn, err := l.Accept(); err == nil {
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}
		}()
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", l.Addr().String(), Pinned(ours.Fingerprint()))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = conn.Close()
		}
		_ = l.Close()
		<-served
	}
}

func TestParsePin(t *testing.T) {
	const pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	for s, want := range map[string]string{
		pin: pin, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": pin,
		"E3:B0:C4:42:98:FC:1C:14:9A:FB:F4:C8:99:6F:B9:24:27:AE:41:E4:64:9B:93:4C:A4:95:99:1B:78:52:B8:55": pin,
		"": "", "sha256//": "", pin[:20]: "", "sha256//47DE": "", "e3b0": "",
	} {
		if got, err := ParsePin(s); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
}
