package release

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"termic/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// signer has a throw-away key, and signs as a release does.
type signer struct {
	t    *testing.T
	file string
	Key  Key
}

func newSigner(t *testing.T, kind string) *signer {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("NOT TESTED: signatures: there is no ssh-keygen")
	}
	s := &signer{t: t, file: filepath.Join(t.TempDir(), "key")}
	s.run("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "a comment of words", "-f", s.file)
	if kind == "ed25519" {
		var err error
		if s.Key, err = ParseKey(s.public()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *signer) run(name string, args ...string) {
	s.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func (s *signer) public() string {
	text, err := os.ReadFile(s.file + ".pub")
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *signer) sign(text []byte, namespace string, more ...string) []byte {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "text")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.run("ssh-keygen", append([]string{"-q", "-Y", "sign", "-f", s.file, "-n", namespace}, append(more, file)...)...)
	sig, err := os.ReadFile(file + ".sig")
	if err != nil {
		s.t.Fatal(err)
	}
	return sig
}

func TestSignatures(t *testing.T) {
	us, them, rsa := newSigner(t, "ed25519"), newSigner(t, "ed25519"), newSigner(t, "rsa")
	text := []byte("what is signed\n")
	good := us.sign(text, Namespace)
	for name, sig := range map[string][]byte{"": good, "sha256": us.sign(text, Namespace, "-O", "hashalg=sha256")} {
		if err := us.Key.Verify(text, sig); err != nil {
			t.Errorf("a good signature %s: %v", name, err)
		}
	}
	block, _ := pem.Decode(good)
	longer := pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: append(bytes.Clone(block.Bytes), 0)})
	for name, c := range map[string]struct {
		key  Key
		text []byte
		sig  []byte
	}{
		"of another key":         {us.Key, text, them.sign(text, Namespace)},
		"of another kind of key": {us.Key, text, rsa.sign(text, Namespace)},
		"for another namespace":  {us.Key, text, us.sign(text, "termic-release")},
		"of another text":        {us.Key, []byte("what was signed\n"), good},
		"without a key":          {Key{}, text, good},
		"twice":                  {us.Key, text, append(bytes.Clone(good), good...)},
		"with more in it":        {us.Key, text, longer},
		"none":                   {us.Key, text, nil},
		"cut off":                {us.Key, text, good[:len(good)/2]},
	} {
		if c.key.Verify(c.text, c.sig) == nil {
			t.Errorf("a signature %s holds", name)
		}
	}
	// Every byte of it counts.
	for i := range block.Bytes {
		changed := bytes.Clone(block.Bytes)
		changed[i] ^= 1
		if us.Key.Verify(text, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: changed})) == nil {
			t.Errorf("byte %d of a signature does not count", i)
		}
		if us.Key.Verify(text, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes[:i]})) == nil {
			t.Errorf("a signature of %d bytes holds", i)
		}
	}
}

func TestKeys(t *testing.T) {
	us := newSigner(t, "ed25519")
	if us.Key.ID() == newSigner(t, "ed25519").Key.ID() {
		t.Error("two keys have one id")
	}
	text := us.public()
	blob := strings.Fields(text)[1]
	raw, err := base64.StdEncoding.DecodeString(blob)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{"": "", "of another kind": newSigner(t, "rsa").public(), "without its kind": blob, "cut off": text[:40],
		"with more in it": "ssh-ed25519 " + base64.StdEncoding.EncodeToString(append(raw, 1)), "private": "-----BEGIN OPENSSH PRIVATE KEY-----"} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("a key %s is taken", name)
		}
	}
}

func TestFeeds(t *testing.T) {
	us := newSigner(t, "ed25519")
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const whole = `{"format":1,"version":"1.2.3","made":"2026-11-29T00:00:00Z","until":"2027-05-01T00:00:00Z","page":"https://example.com/termic"}`
	with := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("%s is not in the feed", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	made := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	got, err := Read([]byte(whole), us.sign([]byte(whole), Namespace), us.Key, made, now)
	if want := (Feed{Version: "1.2.3", Made: made, Until: time.Date(2027, 5, 1, 0, 0, 0, 0, time.UTC), Page: "https://example.com/termic"}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		name, text string
		seen       time.Time
		code       fault.Code
		words      string
	}{
		{"a newer one was seen", whole, made.Add(time.Second), fault.Conflict, "one of 2026-11-29 00:00:01 UTC was seen already"},
		{"past its time", with("2027-05-01", "2026-11-30"), time.Time{}, fault.Conflict, "held until 2026-11-30"},
		{"of the future", with("2026-11-29", "2026-12-02"), time.Time{}, fault.Conflict, "still to come"},
		{"of another form", with(`"format":1`, `"format":2`), time.Time{}, fault.Unavailable, "form 2"},
		{"without a version", with("1.2.3", "newest"), time.Time{}, fault.Unavailable, "cannot be read"},
		{"without a time", with(`"made":"2026-11-29T00:00:00Z",`, ""), time.Time{}, fault.Unavailable, "cannot be read"},
		{"without an end", with(`"until":"2027-05-01T00:00:00Z",`, ""), time.Time{}, fault.Unavailable, "cannot be read"},
		{"with a page that runs something", with("https://example.com/termic", "javascript:alert(1)"), time.Time{}, fault.Unavailable, "cannot be read"},
		{"with a page of this machine", with("https://example.com/termic", "http://127.0.0.1:1/"), time.Time{}, fault.Unavailable, "cannot be read"},
		{"no JSON", "version 1.2.3", time.Time{}, fault.Unavailable, "cannot be read"},
	} {
		_, err := Read([]byte(c.text), us.sign([]byte(c.text), Namespace), us.Key, c.seen, now)
		if fault.CodeOf(err) != c.code || err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// What is not signed is not looked into: the sentence is that of the signature, whatever the feed is.
	for _, text := range []string{with("1.2.3", "1.2.4"), "no JSON", with(`"format":1`, `"format":2`)} {
		_, err := Read([]byte(text), us.sign([]byte(whole), Namespace), us.Key, time.Time{}, now)
		if fault.CodeOf(err) != fault.Forbidden || !strings.Contains(err.Error(), "is not signed by the key of the project") {
			t.Errorf("a feed that is not signed: %v", err)
		}
	}
}

func TestVersionsInOrder(t *testing.T) {
	// Those of semver.org in its order, and what a build of git is called.
	order := []string{"0.1.0-dev", "0.1.0", "0.1.1", "0.2.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.10.0", "2.0.0"}
	for i, a := range order {
		for j, b := range order {
			va, oka := ParseVersion(a)
			vb, okb := ParseVersion(b)
			if got := va.Compare(vb); !oka || !okb || sign(got) != sign(i-j) {
				t.Errorf("%s against %s: %d", a, b, got)
			}
		}
	}
	for text, same := range map[string]string{"v1.2.3": "1.2.3", "1.2.3+build.7": "1.2.3", "1.2.3-4-g1a2b3c4": "1.2.3", "1.2.3-4-g1a2b3c4-dirty": "1.2.3", "1.2.3-dirty": "1.2.3",
		"0.1.0-dev+g1a2b3c4": "0.1.0-dev", "0.1.0-dev+g1a2b3c4-dirty": "0.1.0-dev", "1.0.0-rc.1-2-g1a2b3c4": "1.0.0-rc.1"} {
		a, ok := ParseVersion(text)
		b, _ := ParseVersion(same)
		if !ok || a.Compare(b) != 0 {
			t.Errorf("%s is not taken for %s", text, same)
		}
	}
	for _, bad := range []string{"", "dev", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-a..b", "1.2.3 ", "1.2.3\n", "-1.2.3", "1234567890.0.0", "1.2.3-" + strings.Repeat("a", 100)} {
		if v, ok := ParseVersion(bad); ok {
			t.Errorf("%q is taken for %v", bad, v)
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

// TestOrderIsOne: of any three versions, no two answers contradict each other.
func TestOrderIsOne(t *testing.T) {
	form := rapid.StringMatching(`[0-2]\.[0-2]\.[0-2](-(a|b|1|2|10)(\.(a|1|2))?)?`)
	rapid.Check(t, func(t *rapid.T) {
		var v [3]Version
		for i := range v {
			var ok bool
			if v[i], ok = ParseVersion(form.Draw(t, "version")); !ok {
				t.Fatal("no version")
			}
		}
		if sign(v[0].Compare(v[1])) != -sign(v[1].Compare(v[0])) || v[0].Compare(v[0]) != 0 {
			t.Fatal("both are newer")
		}
		if v[0].Compare(v[1]) <= 0 && v[1].Compare(v[2]) <= 0 && v[0].Compare(v[2]) > 0 {
			t.Fatal("it goes round in a circle")
		}
	})
}

// FuzzSignature: whatever comes, nothing holds and nothing panics.
func FuzzSignature(f *testing.F) {
	f.Add([]byte("SSHSIG\x00\x00\x00\x01"))
	key, err := ParseKey("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, blob []byte) {
		if key.Verify(blob, pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: blob})) == nil {
			t.Fatal("it holds")
		}
	})
}
