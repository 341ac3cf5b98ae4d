package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"termic/sandbox/cage"
)

// Conditions of the measures of watching.
const (
	watchRounds = 9  // of each kind, in turns
	watchRuns   = 12 // of the command in one round
)

// runWatch measures what the deep monitor costs the programs that it watches: `git status` and `npm --version`, against the
// same unwatched. The start of the helper is not in it: it is paid once for each agent.
func runWatch(_ context.Context, b *bench) ([]row, error) {
	helper, err := filepath.Abs("build/bin/termic-cage")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(helper); err != nil {
		return nil, errors.New("build/bin/termic-cage is not there; run `make helper` first")
	}
	spec, err := caged(helper, "true") // what is seen there would not be refused
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, command := range []string{"git status", "npm --version"} {
		if _, err := exec.LookPath(strings.Fields(command)[0]); err != nil {
			rows = append(rows, row{"watch: SKIPPED, " + strings.Fields(command)[0] + " is not installed", "", "", ""})
			continue
		}
		got, err := b.watched(helper, spec.View, command)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", command, err)
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

// watched times a command unwatched, with writing and connections watched, and with all opens watched.
func (b *bench) watched(helper string, view cage.View, command string) ([]row, error) {
	kinds := []*cage.Watch{nil, {What: cage.WatchWrites, On: func(cage.Event) {}}, {What: cage.WatchAll, On: func(cage.Event) {}}}
	times := make([][]time.Duration, len(kinds))
	for range watchRounds {
		for i, w := range kinds {
			took, err := b.timed(helper, view, w, command)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], took)
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	plain := median(times[0])
	var rows []row
	for i, name := range []string{"", "as the deep monitor does", "all opens as well"} {
		if i > 0 {
			ours := median(times[i])
			rows = append(rows, row{"watch: `" + command + "` " + name + ", against unwatched", ms(ours / watchRuns), ms(plain / watchRuns), ratio(float64(ours), float64(plain))})
		}
	}
	return rows, nil
}

// timed runs a command some times in one shell, which tells by its own clock how long they took.
func (b *bench) timed(helper string, view cage.View, w *cage.Watch, command string) (time.Duration, error) {
	script := fmt.Sprintf("%[1]s >/dev/null; a=$(date +%%s%%N); i=0; while [ $i -lt %[2]d ]; do %[1]s >/dev/null || exit 1; i=$((i+1)); done; b=$(date +%%s%%N); echo $((b-a))", command, watchRuns)
	argv := []string{"/bin/sh", "-c", script}
	if w != nil {
		dir, err := os.MkdirTemp(b.dir, "watch")
		if err != nil {
			return 0, err
		}
		m, err := cage.NewMonitor(dir, helper, *w, view, true)
		if err != nil {
			return 0, err
		}
		defer m.Close()
		argv = append(m.Prefix(), argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = b.repo
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Duration(ns), err
}
