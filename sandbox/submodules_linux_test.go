package sandbox

import "testing"

// TestSubmodulesInARealCage: the pins hold for submodules that have settings and for those that have none yet.
func TestSubmodulesInARealCage(t *testing.T) {
	needCage(t)
	h := newHouse(t)
	at := h.admin + "/modules/lib"
	h.file(at+"/HEAD", "ref: refs/heads/main\n")
	h.file(at+"/config", "[core]\n")
	h.file(h.admin+"/modules/bare/HEAD", "ref: refs/heads/main\n")
	h.tries([]try{
		{"echo x >>" + at + "/config", 2, ""},
		{"rm -f " + at + "/config", 1, ""},
		{"mv " + at + "/config " + at + "/x", 1, ""},
		{"echo x >" + at + "/hooks/post-commit", 2, ""},
		{"echo x >" + h.admin + "/modules/bare/config", 2, ""},
		{"echo x >" + h.admin + "/modules/bare/hooks/post-commit", 2, ""},
		{"echo ref: refs/heads/other >" + at + "/HEAD", 0, ""},
	})
}
