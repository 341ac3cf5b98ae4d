package core

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/editor"
	"termic/internal/fault"
	"termic/internal/shellenv"
	"termic/internal/store"
)

// TaskEdit is the verb task_edit. An editor with a window of its own is started beside the app, one that lives in a
// terminal in a tab of the task. Where a cage writes or has written, the owner is asked about files that run by themselves,
// as before an agent without a cage: editors take up settings, tasks and extensions of what they open, and run git there.
func (c *Core) TaskEdit(ctx context.Context, call *Call, p api.TaskEditParams) (api.TaskEditResult, error) {
	t, err := c.store.Task(ctx, call.Task)
	if err != nil {
		return api.TaskEditResult{}, err
	}
	if err := c.usableTree(t); err != nil {
		return api.TaskEditResult{}, err
	}
	root, writers, err := c.editRoot(ctx, t, p.Main)
	if err != nil {
		return api.TaskEditResult{}, err
	}
	target, err := editTarget(root, p.Path)
	if err != nil {
		return api.TaskEditResult{}, err
	}
	base := c.environment(ctx)
	env := shellenv.Build(shellenv.Options{Base: base, Uncaged: true})
	cmd, err := editor.Choose(editor.Wish{Command: c.settings.Get().General.Editor, Env: base.Env,
		Look: func(name string) (string, error) { return shellenv.LookPath(name, c.home, env) }}, target)
	if err != nil {
		return api.TaskEditResult{}, err
	}
	result := api.TaskEditResult{TaskID: t.ID, Editor: cmd.Name, Path: target.File, Line: target.Line, Warnings: editorRuns(writers)}
	if target.File == "" {
		result.Path = target.Dir
	}
	for _, w := range writers {
		if err := c.consentToEdit(ctx, t, w, p); err != nil {
			return api.TaskEditResult{}, err
		}
	}
	if !cmd.Terminal {
		return result, editor.Start(ctx, cmd, env, c.home)
	}
	result.TabID, err = c.editInTab(ctx, t, cmd, filepath.Base(result.Path))
	return result, err
}

// editRoot is the folder that files are named in, with the tasks that write it and whose agents are, or were, in a cage.
func (c *Core) editRoot(ctx context.Context, t store.Task, main bool) (root string, writers []store.Task, err error) {
	tasks := []store.Task{t}
	root = t.Path
	if main {
		project, err := c.store.Project(ctx, t.ProjectID)
		if err != nil {
			return "", nil, err
		}
		if project.Bare {
			return "", nil, fault.New(fault.Unsupported, "The project %q is a bare repository without a main checkout", project.Name)
		}
		root = project.RootPath
		if tasks, err = c.store.Tasks(ctx, store.TaskFilter{ProjectID: project.ID}); err != nil {
			return "", nil, err
		}
		tasks = slices.DeleteFunc(tasks, func(o store.Task) bool { return !o.IsMain })
	}
	for _, o := range tasks {
		if c.written(ctx, o) {
			writers = append(writers, o)
		}
	}
	return root, writers, nil
}

// consentToEdit asks as the start of an agent without a cage does. What was applied to a main checkout, the owner has
// agreed to then.
func (c *Core) consentToEdit(ctx context.Context, t, writer store.Task, p api.TaskEditParams) error {
	if p.AcceptFiles {
		if !caged(writer) && !c.runsCaged(writer.ID) { // while a cage goes on writing, the next time is another question
			c.agree(writer)
		}
		return nil
	}
	agree := "edit " + shellWord(t.Name)
	if p.Path != "" {
		agree += " " + shellWord(p.Path)
	}
	if p.Main {
		agree += " --main"
	}
	return c.refuseSelfRun(ctx, writer, "an editor opens them", agree+" --accept-files")
}

func editorRuns(writers []store.Task) []string {
	if len(writers) == 0 {
		return nil
	}
	return []string{"A caged agent writes this folder: git, tasks and extensions that the editor starts there may run what the agent wrote."}
}

// editInTab opens a tab for an editor that lives in a terminal. One that does not start leaves none.
func (c *Core) editInTab(ctx context.Context, t store.Task, cmd editor.Command, name string) (string, error) {
	tab, err := c.store.CreateTab(ctx, store.Tab{TaskID: t.ID, Kind: store.TabTerminal, Title: cmd.Name + " " + name, Command: cmd.Argv})
	if err != nil {
		return "", err
	}
	if _, err = c.startTab(ctx, t.ID, tab.ID, startHow{}); err == nil {
		return tab.ID, nil
	}
	_, cerr := c.store.UpdateTab(context.WithoutCancel(ctx), tab.ID, func(t *store.Tab) error { t.ClosedAt = time.Now(); return nil })
	if cerr != nil {
		c.log.Error("the tab of an editor that did not start stays", "tab", tab.ID, "err", cerr)
	}
	return "", err
}

// lineBehind is a path with a line behind it, or with a line and a column: then it is cut off twice.
var lineBehind = regexp.MustCompile(`^(.+):([0-9]{1,9})$`)

// editTarget finds what a person named: a file or folder within the worktree, wherever links on the way lead, with a line
// behind it or none.
func editTarget(root, name string) (editor.Target, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return editor.Target{}, fault.Wrap(err, fault.NotFound, "The folder of the task is gone: %s", root)
	}
	t := editor.Target{Dir: real}
	if name == "" {
		return t, nil
	}
	path, err := inTreeReally(root, real, name)
	for cut := name; fault.CodeOf(err) == fault.NotFound; {
		m := lineBehind.FindStringSubmatch(cut)
		if m == nil {
			return editor.Target{}, err
		}
		cut = m[1]
		found, ferr := inTreeReally(root, real, cut)
		if fault.CodeOf(ferr) == fault.NotFound {
			continue
		}
		t.Line, _ = strconv.Atoi(m[2]) // at most nine digits
		path, err = found, ferr
	}
	if err != nil {
		return editor.Target{}, err
	}
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return editor.Target{}, fault.Wrap(err, fault.Unavailable, "%q cannot be opened", name)
	case st.IsDir():
		t.Dir, t.Line = path, 0
	case st.Mode().IsRegular():
		t.File = path
	default:
		return editor.Target{}, fault.New(fault.Unsupported, "%q is neither a file nor a folder", name)
	}
	return t, nil
}

// inTreeReally follows all links of a path and refuses one that leaves the tree.
func inTreeReally(root, real, name string) (string, error) {
	outside := fault.New(fault.InvalidArgument, "%q leads out of the worktree", name).WithHint("Name a file by its path below %s.", root)
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(real, filepath.FromSlash(path))
	}
	if strings.ContainsRune(name, 0) {
		return "", outside
	}
	found, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(fault.NotFound, "There is no file %q in the worktree", name)
	}
	if err != nil {
		return "", fault.Wrap(err, fault.NotFound, "%q cannot be found in the worktree", name)
	}
	if rel, err := filepath.Rel(real, found); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", outside
	}
	return found, nil
}
