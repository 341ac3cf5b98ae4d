package worktree

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
)

// MaxBranches is how many branches Branches returns at most: a list for a person to choose from.
const MaxBranches = 1000

// Branch is a branch that work can start from.
type Branch struct {
	Name   string // as it is given to git: main, origin/main
	Remote bool   // it is what was fetched of a remote's branch
	Commit string
	Time   time.Time // of the commit
}

// Branches returns the branches of the repository and those fetched from its remotes, the newest commit first. More says that
// there are others. The HEAD of a remote is another name for one of them and is left out.
func (r *Repo) Branches(ctx context.Context) (list []Branch, more bool, err error) {
	out, err := r.git.text(ctx, command{at: r.here(), args: []string{"for-each-ref", "--sort=-committerdate", "--count=" + strconv.Itoa(MaxBranches+1),
		"--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(symref)", "refs/heads", "refs/remotes"}})
	if err != nil {
		return nil, false, err
	}
	lines := 0
	for line := range strings.Lines(out) {
		if lines++; lines > MaxBranches {
			return list, true, nil
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(f) != 4 {
			return nil, false, errors.New("for-each-ref: unknown line " + printable(line, 80))
		}
		if f[3] != "" {
			continue
		}
		b := Branch{Commit: f[1]}
		if name, ok := strings.CutPrefix(f[0], "refs/heads/"); ok {
			b.Name = name
		} else {
			b.Name, b.Remote = strings.TrimPrefix(f[0], "refs/remotes/"), true
		}
		if sec, err := strconv.ParseInt(f[2], 10, 64); err == nil { // empty where a branch leads to what is no commit
			b.Time = time.Unix(sec, 0)
		}
		list = append(list, b)
	}
	return list, false, nil
}
