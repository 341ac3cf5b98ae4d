package core

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"termic/internal/api"
	"termic/internal/fault"
)

// maxDropped bounds the files that are dropped at once, and maxDroppedText what is typed for them, in bytes: a terminal
// that is still in its line mode takes 4 KiB of a line.
const (
	maxDropped     = 100
	maxDroppedText = 4 << 10
)

// TaskDrop is the verb task_drop: it puts the paths of files into words for the program of a tab, without typing them.
// They are quoted as a shell needs it, with blanks between them and behind, and never a line end, so that nothing runs.
func (c *Core) TaskDrop(ctx context.Context, call *Call, p api.TaskDropParams) (api.TaskDropResult, error) {
	tab, err := c.pickTab(ctx, call.Caller, call.Task, p.Tab, false)
	if err != nil {
		return api.TaskDropResult{}, err
	}
	if len(p.Paths) == 0 || len(p.Paths) > maxDropped {
		return api.TaskDropResult{}, fault.New(fault.InvalidArgument, "Between 1 and %d files can be dropped at once", maxDropped)
	}
	result := api.TaskDropResult{TaskID: call.Task, TabID: tab.ID, Unreadable: []string{}}
	live := c.liveOf(tab.ID)
	var text strings.Builder
	for _, path := range p.Paths {
		if err := droppable(path); err != nil {
			return api.TaskDropResult{}, err
		}
		text.WriteString(typedPath(path) + " ")
		if live != nil && live.walls.made && !readsIn(live, path) {
			result.Unreadable = append(result.Unreadable, path)
		}
	}
	if text.Len() > maxDroppedText {
		return api.TaskDropResult{}, fault.New(fault.InvalidArgument, "The names of these files are too long together").WithHint("Drop fewer of them at once.")
	}
	result.Text = text.String()
	return result, nil
}

// droppable refuses a path that is not one of a file that is there, or whose name would do more in a terminal than be read.
func droppable(path string) error {
	if !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return fault.New(fault.InvalidArgument, "The name of a file has a line end or another control character in it, so nothing was typed").
			WithHint("Rename the file, or type its name yourself.")
	}
	if !filepath.IsAbs(path) {
		return fault.New(fault.InvalidArgument, "%q is no path of a file", path)
	}
	_, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "There is no file %q", path)
	case err != nil:
		return fault.Wrap(err, fault.Unavailable, "%q cannot be looked at", path)
	}
	return nil
}

// typedPath writes a path so that a shell reads it as one word.
func typedPath(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool {
		return !(r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+:@,%", r)))
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// readsIn reports whether the program of a tab can read a file of the host at its own path.
func readsIn(l *liveTab, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && l.walls.policy.Reads(real) && l.walls.policy.Reads(filepath.Clean(path))
}
