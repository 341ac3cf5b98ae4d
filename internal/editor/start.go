package editor

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"termic/internal/fault"
)

// settle is how long a new editor is watched: one that cannot start says so within it.
const settle = 700 * time.Millisecond

// Start starts an editor with a window of its own, in the folder dir and with the environment env. It returns when the
// editor has run for a moment, or has handed over to one that runs already. The editor lives on when the app ends; the
// goroutine that waits for it ends with it, and nobody waits for that.
//
// Errors: fault.Unavailable when it does not start, or ends at once with a failure.
func Start(ctx context.Context, c Command, env []string, dir string) error {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Env, cmd.Dir = append([]string{}, env...), dir // no input, and no output that could fill up a pipe of ours
	ownSession(cmd)
	if err := cmd.Start(); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The editor %s could not be started", c.Name).
			WithHint("Try `%s` in a terminal, or choose another one in the settings.", c.Argv[0])
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	watched := time.NewTimer(settle)
	defer watched.Stop()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fault.Wrap(err, fault.Unavailable, "The editor %s ended at once with a failure (%s)", c.Name, exit.ProcessState).
				WithHint("Try `%s` in a terminal, or choose another one in the settings.", c.Argv[0])
		}
	case <-watched.C:
	case <-ctx.Done():
	}
	return nil
}
