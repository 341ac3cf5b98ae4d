package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MaxStatusFiles bounds Status.Files: a folder of dependencies that nobody ignored has more files than a window can
// show. The counts are always whole.
const MaxStatusFiles = 5000

// Status is the state of one worktree.
type Status struct {
	Branch        string // "" when detached
	Head          string // "" when there is no commit
	Upstream      string
	Ahead, Behind int    // against Upstream
	InProgress    string // rebase, merge, cherry-pick, revert, bisect, am; "" = none

	Staged, Unstaged, Untracked, Conflicted int // counts of files; one file may be staged and unstaged
	Files                                   []FileStatus
	Truncated                               bool // Files was cut at MaxStatusFiles

	files  []FileStatus // all of them
	warned bool         // git said something beside: it may not have seen all
}

// FileStatus is one changed file, with the two letters of `git status`.
type FileStatus struct {
	Path      string
	OldPath   string // of a rename or copy
	Index     byte   // '.' = unchanged in the index, '?' = untracked
	Worktree  byte   // '.' = unchanged in the worktree, '?' = untracked
	Conflict  bool
	Submodule bool

	head, index entry // what HEAD and the index have; mode "000000" for nothing. Not of untracked and conflicting files
}

// Dirty counts the files that differ from HEAD in any way.
func (s Status) Dirty() int { return len(s.files) }

// Status reads the state of the worktree at wt: every changed and untracked file, one by one, ignored ones left out.
// Errors: fault.NotFound when wt is no worktree of the repository or its folder is gone.
func (r *Repo) Status(ctx context.Context, wt string) (Status, error) {
	at, err := r.enter(ctx, wt)
	if err != nil {
		return Status{}, err
	}
	return steady(ctx, func() (Status, error) { return r.status(ctx, at) })
}

func (r *Repo) status(ctx context.Context, at place) (Status, error) { return r.statusBy(ctx, at, "") }

// statusBy is status with another index; "" = the checkout's own.
func (r *Repo) statusBy(ctx context.Context, at place, index string) (Status, error) {
	return r.statusWith(ctx, at, index, "--find-renames")
}

// statusWith says with renames whether a file that went and one that came are told as one.
func (r *Repo) statusWith(ctx context.Context, at place, index, renames string) (Status, error) {
	out, warned, err := r.git.warned(ctx, command{at: at, index: index, args: []string{"status", "--porcelain=v2", "-z", "--branch",
		"--untracked-files=all", renames, r.submodules()}, config: []setting{{"core.untrackedCache", "false"}}})
	if err != nil {
		return Status{}, err
	}
	s, err := parseStatus(out)
	if err != nil {
		return Status{}, err
	}
	s.warned = warned
	s.InProgress = inProgress(at.gitDir)
	s.Files = s.files
	if len(s.Files) > MaxStatusFiles {
		s.Files, s.Truncated = s.Files[:MaxStatusFiles], true
	}
	return s, nil
}

// inProgress names the operation that left its notes in the git folder of a checkout.
func inProgress(gitDir string) string {
	for _, m := range []struct{ file, name string }{
		{"rebase-merge", "rebase"}, {"rebase-apply/applying", "am"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(gitDir, filepath.FromSlash(m.file))); err == nil {
			return m.name
		}
	}
	return ""
}

// parseStatus reads `git status --porcelain=v2 -z --branch`.
func parseStatus(out string) (Status, error) {
	var s Status
	recs := splitNUL(out)
	for i := 0; i < len(recs); i++ {
		rec := recs[i]
		if rec == "" {
			return Status{}, errors.New("status: empty record")
		}
		switch rec[0] {
		case '#':
			s.header(rec)
			continue
		case '?':
			if len(rec) < 3 {
				return Status{}, errors.New("status: untracked file without a name")
			}
			s.files = append(s.files, FileStatus{Path: rec[2:], Index: '?', Worktree: '?'})
			s.Untracked++
			continue
		case '!':
			continue
		}
		f, err := parseChange(rec)
		if err != nil {
			return Status{}, err
		}
		if rec[0] == '2' { // the name before the rename is a record of its own
			if i++; i >= len(recs) || recs[i] == "" {
				return Status{}, errors.New("status: rename without the old name")
			}
			f.OldPath = recs[i]
		}
		s.count(f)
	}
	return s, nil
}

// fieldsBefore is how many space-separated fields stand before the path in each kind of record.
func fieldsBefore(kind byte) int {
	switch kind {
	case '1':
		return 8 // 1 XY sub mH mI mW hH hI
	case '2':
		return 9 // 2 XY sub mH mI mW hH hI score
	case 'u':
		return 10 // u XY sub m1 m2 m3 mW h1 h2 h3
	}
	return 0
}

func parseChange(rec string) (FileStatus, error) {
	n := fieldsBefore(rec[0])
	f := strings.SplitN(rec, " ", n+1)
	if n == 0 || len(f) != n+1 || len(f[1]) != 2 || f[2] == "" || f[n] == "" {
		return FileStatus{}, errors.New("status: unknown record " + strconv.Quote(printable(rec, 80)))
	}
	out := FileStatus{Path: f[n], Index: f[1][0], Worktree: f[1][1], Conflict: rec[0] == 'u', Submodule: f[2][0] == 'S'}
	if !out.Conflict {
		out.head, out.index = entry{f[3], f[6], out.Path}, entry{f[4], f[7], out.Path}
	}
	return out, nil
}

func (s *Status) count(f FileStatus) {
	s.files = append(s.files, f)
	if f.Conflict {
		s.Conflicted++
		return
	}
	if f.Index != '.' {
		s.Staged++
	}
	if f.Worktree != '.' {
		s.Unstaged++
	}
}

// header takes one "# branch..." line; unknown ones belong to a newer git.
func (s *Status) header(rec string) {
	f := strings.SplitN(rec, " ", 3)
	if len(f) != 3 {
		return
	}
	switch f[1] {
	case "branch.oid":
		if f[2] != "(initial)" {
			s.Head = f[2]
		}
	case "branch.head":
		if f[2] != "(detached)" {
			s.Branch = f[2]
		}
	case "branch.upstream":
		s.Upstream = f[2]
	case "branch.ab":
		a, b, _ := strings.Cut(f[2], " ")
		s.Ahead, _ = strconv.Atoi(strings.TrimPrefix(a, "+")) // absent or odd numbers stay 0: they are for display only
		s.Behind, _ = strconv.Atoi(strings.TrimPrefix(b, "-"))
	}
}
