package release

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestARelease: what `make release` signs is what the app believes and what the page about installing lets a person check.
func TestARelease(t *testing.T) {
	for _, program := range []string{"ssh-keygen", "bash", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT TESTED: a release: there is no %s", program)
		}
	}
	s, dir := newSigner(t, "ed25519"), t.TempDir()
	put := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name)
	}
	put("SHA256SUMS", put("termic-0.2.0.cdx.json", "{}")+put("termic_0.2.0_amd64.deb", "a package"))
	cmd := exec.Command("bash", "../../build/package/sign.sh", s.file, dir)
	cmd.Env = append(os.Environ(), "RELEASE_PAGE=https://example.com/0.2.0", "FEED_DAYS=10")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("sign.sh: %v\n%s", err, out)
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	feed, err := Read(read("latest.json"), read("latest.json.sig"), s.Key, time.Time{}, time.Now())
	if err != nil || feed.Version != "0.2.0" || feed.Page != "https://example.com/0.2.0" || feed.Until.Sub(feed.Made) != 10*24*time.Hour {
		t.Errorf("the feed: %+v, %v", feed, err)
	}
	if s.Key.Verify(read("SHA256SUMS"), read("SHA256SUMS.sig")) == nil {
		t.Error("the signature of the checksums passes for that of a feed")
	}

	// The reader has the public half from elsewhere, and not all packages.
	page, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(string(page))
	if m == nil || !strings.Contains(m[1], "ssh-keygen -Y verify") {
		t.Fatal("docs/install.md does not say how to check a package")
	}
	put("release_ed25519.pub", s.public())
	for _, f := range []string{"allowed_signers", "termic-0.2.0.cdx.json"} {
		if err := os.Remove(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	check := func() (string, error) {
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", m[1])
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := check(); err != nil || !strings.HasPrefix(out, "Good") || !strings.Contains(out, "termic_0.2.0_amd64.deb: OK") {
		t.Errorf("a good package: %v\n%s", err, out)
	}
	put("termic_0.2.0_amd64.deb", "another package")
	if out, err := check(); err == nil {
		t.Errorf("a changed package passes:\n%s", out)
	}
	put("SHA256SUMS", put("termic_0.2.0_amd64.deb", "another package"))
	if out, err := check(); err == nil {
		t.Errorf("changed checksums pass:\n%s", out)
	}
}
