package sandbox

import "testing"

// TestOutsideNamesTheRealFolder: what a cage refused in git's folder is told by the name that it has outside.
func TestOutsideNamesTheRealFolder(t *testing.T) {
	p := Policy{gitView: &gitView{common: "/home/u/shop/.git"}}
	for in, want := range map[string]string{"/.termic/git/config.lock": "/home/u/shop/.git/config.lock", "/.termic/git": "/home/u/shop/.git",
		"/.termic/gitx": "/.termic/gitx", "/etc/passwd": "/etc/passwd", "": ""} {
		if got := p.Outside(in); got != want {
			t.Errorf("%s is %s outside, want %s", in, got, want)
		}
	}
	if got := (Policy{}).Outside("/.termic/git/x"); got != "/.termic/git/x" {
		t.Errorf("without a repository: %s", got)
	}
}
