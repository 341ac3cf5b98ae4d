package core

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"termic/internal/agenthome"
	"termic/internal/fault"
	"termic/internal/ids"
	"termic/internal/store"
)

// Private homes hold conversations and logins. A login is of no use to a task that is archived: its next start would bring
// the user's anew. Conversations are, for a task that is restored, and so they stay for a while.
const (
	loginsStay = time.Minute   // after an archive: what an agent refreshed is taken back first
	homesStay  = store.KeepEnd // after an archive; from then on a restored task begins anew
	sweepEvery = 6 * time.Hour
)

// sweepHomes looks after the homes of archived tasks: at once, after each archive, and a few times a day, until the app ends.
func (c *Core) sweepHomes() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		c.sweep(c.ctx, time.Now())
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		case <-c.toSweep:
			select { // others that are archived meanwhile are swept with it
			case <-c.ctx.Done():
				return
			case <-time.After(loginsStay + time.Second):
			}
		}
	}
}

// sweepSoon lets the home of a task that was archived just now be looked after.
func (c *Core) sweepSoon() {
	select {
	case c.toSweep <- struct{}{}:
	default: // it is about to look anyway
	}
}

// sweep takes logins out of homes of archived tasks, and removes homes that are no longer of use.
func (c *Core) sweep(ctx context.Context, now time.Time) {
	dir := filepath.Join(c.dataDir, "homes")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.log.Error("private homes could not be looked after", "err", err)
	}
	for _, e := range entries {
		id := strings.TrimSuffix(e.Name(), ".git") // beside a home, what was made for a start and left by a killed app
		if !e.IsDir() || !ids.Valid(id) || ctx.Err() != nil {
			continue
		}
		if err := c.sweepHome(ctx, id, filepath.Join(dir, e.Name()), now); err != nil && ctx.Err() == nil {
			c.log.Warn("a private home could not be looked after", "home", e.Name(), "err", err)
		}
	}
}

func (c *Core) sweepHome(ctx context.Context, id, home string, now time.Time) error {
	release, err := c.hold(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	t, err := c.store.Task(ctx, id)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return agenthome.Remove(home)
	case err != nil:
		return err
	case !t.Archived() || now.Sub(t.ArchivedAt) < loginsStay || len(c.liveTabs(id)) > 0:
		return nil
	case now.Sub(t.ArchivedAt) < homesStay:
		return agenthome.DropLogins(home)
	}
	tabs, err := c.store.Tabs(ctx, id)
	if err == nil {
		err = c.store.Write(ctx, func(tx *store.Tx) error { return forgetTalks(ctx, tx, tabs) })
	}
	if err != nil {
		return err
	}
	return agenthome.Remove(home)
}
