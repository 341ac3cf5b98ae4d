package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"termic/app"
)

// TestWebPage runs the commands of docs/web.md as a reader would.
func TestWebPage(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("NOT TESTED: the commands of docs/web.md, for want of curl")
	}
	r := newRig(t)
	r.addProject()
	f := r.web(app.WebOptions{})
	value := r.webToken("reader", "operator")
	page, err := os.ReadFile("../../docs/web.md")
	must(t, err)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	wants := []string{`"name":"repo"`, `{"error":{"code":"not_found","message":"`}
	if len(blocks) != len(wants) {
		t.Fatalf("%d blocks", len(blocks))
	}
	for i, b := range blocks {
		for _, fingerprint := range []string{f.pin, "sha256//" + strings.Repeat("A", 43) + "="} {
			cmd := exec.Command("bash", "-c", b[1])
			cmd.Env = append(r.environ(), "url="+f.url, "fingerprint="+fingerprint, "token="+value)
			out, err := cmd.Output()
			if right := fingerprint == f.pin; right != (err == nil && strings.Contains(string(out), wants[i])) || !right && len(out) > 0 {
				t.Errorf("block %d, right key %v: %v %s", i, right, err, out)
			}
		}
	}
}
