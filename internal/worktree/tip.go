package worktree

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxLogEnd is how much of the end of a log is read, in bytes: one line with a long subject and far more.
const maxLogEnd = 64 << 10

// Tip is where a checkout itself last went.
type Tip struct {
	Ref string // that HEAD is on, with its full name; empty when it is on none
	ID  string // of the commit that the log of HEAD ends with; empty where there is no such log
}

// Tip tells where the checkout at wt last went, by its own folder in the repository. Git notes there what is done in the
// checkout, and nothing of what is done to its branch from elsewhere.
func (r *Repo) Tip(wt string) (Tip, error) {
	at, err := r.in(wt)
	if err != nil {
		return Tip{}, err
	}
	head, err := readIn(at.gitDir, "HEAD")
	if err != nil {
		return Tip{}, err
	}
	var t Tip
	if ref, is := strings.CutPrefix(strings.TrimSpace(string(head)), "ref:"); is {
		t.Ref = strings.TrimSpace(ref)
	}
	t.ID = lastOf(at.gitDir, "logs/HEAD")
	return t, nil
}

// lastOf is the commit that the last line of a log leads to; empty where that cannot be told.
func lastOf(dir, name string) string {
	f, err := openIn(dir, name)
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	end := make([]byte, min(st.Size(), maxLogEnd))
	if _, err := f.ReadAt(end, st.Size()-int64(len(end))); err != nil && err != io.EOF {
		return ""
	}
	text, whole := strings.CutSuffix(string(end), "\n")
	if !whole {
		return "" // a line is being written, or was cut off
	}
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	} else if st.Size() > maxLogEnd {
		return ""
	}
	fields := strings.Fields(text)
	if len(fields) < 2 || len(fields[1]) < 40 || strings.Trim(fields[1], "0123456789abcdef") != "" {
		return ""
	}
	return fields[1]
}

// checkoutLogs are the logs of HEAD of all checkouts, as paths below the common folder.
func (r *Repo) checkoutLogs() []string {
	out := []string{"logs/HEAD"}
	entries, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if err != nil {
		return out // there are none
	}
	for _, e := range entries {
		out = append(out, filepath.Join("worktrees", e.Name(), "logs/HEAD"), filepath.Join("worktrees", e.Name(), "HEAD"))
	}
	return out
}
