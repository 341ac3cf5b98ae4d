package ptyhost

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"termic/internal/fault"
)

// child is a started program. wait returns when it ended; its process id stays taken until release.
type child interface {
	wait() ExitStatus
	release()
}

// prepare checks the spec, fills in its defaults, and returns the path of the program.
func prepare(spec *Spec) (path string, err error) {
	if spec.ID == "" || strings.ContainsAny(spec.ID, "\x00=") {
		return "", fault.New(fault.InvalidArgument, "A terminal needs an id")
	}
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return "", fault.New(fault.InvalidArgument, "There is no program to start")
	}
	for _, s := range append(spec.Argv, spec.Env...) {
		if strings.ContainsRune(s, 0) {
			return "", fault.New(fault.InvalidArgument, "An argument or variable of the program holds a zero byte")
		}
	}
	if spec.Size == (Size{}) {
		spec.Size = DefaultSize
	}
	if err := checkSize(spec.Size); err != nil {
		return "", err
	}
	if spec.ScrollbackLines <= 0 {
		spec.ScrollbackLines = DefaultLines
	}
	spec.ScrollbackLines = min(spec.ScrollbackLines, MaxLines)
	spec.Env = uniqueEnv(spec.Env, MarkerName+"="+spec.ID)
	if err := checkDir(spec.Dir); err != nil {
		return "", err
	}
	return lookProgram(spec.Argv[0], spec.Dir, spec.Env)
}

// uniqueEnv returns env and extra with every name once; the last one counts. Entries without a name are dropped.
func uniqueEnv(env []string, extra ...string) []string {
	all := append(append([]string(nil), env...), extra...)
	last := make(map[string]int, len(all))
	for i, entry := range all {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" {
			last[name] = i
		}
	}
	out := make([]string, 0, len(last))
	for i, entry := range all {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" && last[name] == i {
			out = append(out, entry)
		}
	}
	return out
}

func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fault.New(fault.InvalidArgument, "The working directory of a terminal must be an absolute path")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(err, fault.NotFound, "The folder %s does not exist", dir)
	case err != nil:
		return fault.Wrap(err, fault.Forbidden, "The folder %s cannot be opened", dir)
	case !info.IsDir():
		return fault.New(fault.InvalidArgument, "%s is not a folder", dir)
	}
	return nil
}

// lookProgram finds the program as a shell would, but in the child's PATH: ours may be a desktop's bare one. Empty and
// relative entries of PATH are skipped, since the working directory belongs to the agent.
func lookProgram(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return path, checkProgram(path, name)
	}
	path := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = v
		}
	}
	var denied error
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue
		}
		candidate := filepath.Join(d, name)
		err := checkProgram(candidate, name)
		if err == nil {
			return candidate, nil
		}
		if denied == nil && fault.CodeOf(err) == fault.Forbidden {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fault.New(fault.NotFound, "The program %s was not found", name).
		WithHint("It is looked for in PATH, which is %s", path)
}

func checkProgram(path, name string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fault.Wrap(err, fault.NotFound, "The program %s was not found", name).WithHint("It was looked for at %s", path)
	case err != nil:
		return fault.Wrap(err, fault.Forbidden, "The program %s may not be started", path)
	case info.IsDir():
		return fault.New(fault.InvalidArgument, "%s is a folder, not a program", path)
	case info.Mode()&0o111 == 0:
		return fault.New(fault.Forbidden, "The program %s may not be started: it is not executable", path).
			WithHint("`chmod +x` makes it so.")
	}
	return nil
}

// launch opens a pseudo-terminal and starts the program in it.
func (h *Host) launch(spec Spec, path string) (*Terminal, error) {
	start := startChild
	if spec.Start != nil {
		start = startElsewhere
	}
	pty, c, pid, err := start(path, spec)
	if err != nil {
		return nil, startFault(err, spec.Argv[0])
	}
	t := &Terminal{host: h, spec: spec, pty: pty, child: c, pid: pid, in: newInput(pty), size: spec.Size,
		done: make(chan struct{}), gone: make(chan struct{}), over: make(chan struct{}), read: make(chan struct{}),
		room: make(chan struct{}, 1), wrote: make(chan struct{}), viewers: make(map[*Attachment]struct{}),
		screen: newScreen(spec.Size, spec.ScrollbackLines, h.opts.Log)}
	if p, ok := readProcess(pid); ok {
		t.start = p.start
	}
	go t.readLoop()
	go func() {
		defer close(t.wrote)
		t.in.run()
	}()
	go t.reap()
	return t, nil
}

// elsewhere is a program that the Spec's Start has started.
type elsewhere struct{ Started }

func startElsewhere(path string, spec Spec) (*os.File, child, int, error) {
	s, err := spec.Start(path, spec)
	return s.PTY, elsewhere{s}, s.Pid, err
}

func (e elsewhere) wait() ExitStatus { return e.Wait() }
func (e elsewhere) release()         { e.End() }

// startFault puts a refusal of the kernel into words.
func startFault(err error, name string) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	switch {
	case errors.Is(err, syscall.ENOENT):
		return fault.Wrap(err, fault.NotFound, "The program %s cannot be started: the interpreter that it names is missing", name)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fault.Wrap(err, fault.Forbidden, "The program %s may not be started", name)
	case errors.Is(err, syscall.ENOEXEC):
		return fault.Wrap(err, fault.InvalidArgument, "%s is not a program that this machine can run", name).
			WithHint("A script needs a first line such as #!/bin/sh.")
	case errors.Is(err, syscall.E2BIG):
		return fault.Wrap(err, fault.InvalidArgument, "The arguments and variables of %s are too long", name)
	}
	return fault.Wrap(err, fault.Unavailable, "A terminal for %s could not be opened", name).
		WithHint("The machine gives no more of something that it needs: terminals (kernel.pty.max), open files, processes or memory. Close some tabs or programs, and start it again.")
}
