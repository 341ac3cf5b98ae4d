package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/childproc"
	"termic/sandbox/cage"
)

// roomProcesses bounds what one command in a room may start.
const roomProcesses = 512

// roomSystem is what of the system a command needs to run: programs, libraries, and the settings of git for all users.
var roomSystem = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/opt", "/etc/ld.so.cache", "/etc/gitconfig"}

// Room makes a place for a program of ours that reads what a cage writes: it sees the system's programs and these paths
// alone, and has no network. What does not exist is left out. A machine that cannot build it refuses every start.
func (m *Machine) Room(read, write []string) childproc.Starter {
	return func(ctx context.Context, argv, env []string, dir string, stdio [3]*os.File) (childproc.Running, error) {
		c, err := cage.Start(ctx, cage.Spec{Argv: argv, Env: env, Dir: dir, Net: true, Stdio: stdio, HelperPath: m.Helper,
			View: roomView(read, write), Limits: cage.Limits{Processes: roomProcesses}})
		if err != nil {
			return nil, err
		}
		return inRoom{c}, nil
	}
}

type inRoom struct{ cage *cage.Cage }

func (r inRoom) Wait() int { return r.cage.Wait().Code }
func (r inRoom) Kill()     { r.cage.Kill() }

// roomView grants the system and the paths under the names that they were given by. A path that lies in another one needs
// no grant of its own, unless it is to be written.
func roomView(read, write []string) cage.View {
	var v cage.View
	for _, p := range roomSystem {
		if to, err := os.Readlink(p); err == nil {
			v.Links = append(v.Links, cage.Link{Path: p, To: to})
		} else if _, err := os.Stat(p); err == nil {
			v.Mounts = append(v.Mounts, cage.Mount{Source: p})
		}
	}
	add := func(p string, writable bool) {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			return
		}
		if !writable && slices.ContainsFunc(v.Mounts, func(m cage.Mount) bool { return m.Source == real || covers(m.Source, real) && covers(target(m), p) }) {
			return
		}
		v.Mounts = append(v.Mounts, cage.Mount{Source: real, Target: filepath.Clean(p), Write: writable})
	}
	slices.SortFunc(read, strings.Compare) // a folder before what is in it
	for _, p := range read {
		add(p, false)
	}
	for _, p := range write {
		add(p, true)
	}
	return v
}

func target(m cage.Mount) string {
	if m.Target == "" {
		return m.Source
	}
	return m.Target
}
