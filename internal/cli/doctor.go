package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/datadir"
	"termic/internal/fault"
)

// Levels of a finding.
const (
	levelOK   = "ok"
	levelNote = "note"
	levelWarn = "warn"
	levelFail = "fail"
)

// gitTimeout bounds asking git for its version.
const gitTimeout = 5 * time.Second

// doctor asks the app, and looks itself at what can be told without it when it is not there: that is when a person
// needs help most.
func (r *runner) doctor(ctx context.Context, inv invocation) error {
	addr, err := r.address()
	if err != nil {
		return err
	}
	client, err := control.Dial(ctx, addr)
	switch {
	case err == nil:
		defer client.Close()
		data, err := client.Call(ctx, inv.verb.Name, nil, nil)
		if err != nil {
			return err
		}
		var found api.DoctorResult
		if path := inv.text("bundle"); path != "" {
			if err := errors.Join(json.Unmarshal(data, &found), r.bundle(ctx, client, found, path)); err != nil {
				return err
			}
		}
		return r.print(inv, data)
	case ctx.Err() != nil:
		return err
	}
	found := api.DoctorResult{Version: r.Version, Findings: r.localFindings(ctx, addr, err)}
	for _, f := range found.Findings {
		if f.Level == levelFail {
			r.exit = fault.ExitError
		}
	}
	if path := inv.text("bundle"); path != "" {
		if err := r.bundle(ctx, nil, found, path); err != nil {
			return err
		}
	}
	if r.global.json() {
		return r.printJSON(found)
	}
	p := &printer{out: r.Stdout, err: r.Stderr}
	showDoctor(p, found)
	return p.failed
}

// localFindings looks at the machine from outside of the app; dialErr says why the app was not reached.
func (r *runner) localFindings(ctx context.Context, addr control.Address, dialErr error) []api.Finding {
	app := api.Finding{Name: "app", Level: levelNote, Detail: "not running", Fix: "open the app, or run `termic serve`"}
	if !errors.Is(dialErr, control.ErrNotRunning) {
		f := fault.From(dialErr)
		app = api.Finding{Name: "app", Level: levelFail, Detail: f.Message, Fix: f.Hint}
	}
	found := []api.Finding{app}
	if dir, err := datadir.Find(r.Getenv); err != nil {
		f := fault.From(err)
		found = append(found, api.Finding{Name: "data folder", Level: levelFail, Detail: f.Message, Fix: f.Hint})
	} else {
		found = append(found, dataFolder(dir), holder(dir, dialErr))
	}
	return append(found, socketPath(addr), git(ctx))
}

func dataFolder(dir string) api.Finding {
	f := api.Finding{Name: "data folder", Level: levelOK, Detail: dir}
	switch st, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		f.Level, f.Detail = levelNote, dir+" (made at the first start)"
	case err != nil:
		f.Level, f.Detail = levelFail, err.Error()
	case !st.IsDir():
		f.Level, f.Detail, f.Fix = levelFail, dir+" is not a folder", "move it away, or set TERMIC_DATA_DIR to another folder"
	case st.Mode().Perm()&0o077 != 0:
		f.Level, f.Detail = levelWarn, fmt.Sprintf("%s may be entered by others (%04o)", dir, st.Mode().Perm())
		f.Fix = "chmod 700 " + dir
	}
	return f
}

// holder tells of a process that holds the folder although it does not answer.
func holder(dir string, dialErr error) api.Finding {
	f := api.Finding{Name: "instance", Level: levelOK, Detail: "nobody holds the data folder"}
	switch h, held, err := datadir.HeldBy(dir); {
	case err != nil:
		f.Level, f.Detail = levelNote, "who holds the data folder could not be told"
	case held:
		f.Detail = fmt.Sprintf("held by process %d (%s)", h.PID, h.Face)
		if errors.Is(dialErr, control.ErrNotRunning) {
			f.Level, f.Fix = levelWarn, fmt.Sprintf("it does not answer; if that lasts, end process %d and start again", h.PID)
		}
	}
	return f
}

func socketPath(addr control.Address) api.Finding {
	f := api.Finding{Name: "control socket", Level: levelOK, Detail: addr.Socket}
	if n := len(addr.Socket); n > control.MaxSocketPath {
		f.Level, f.Fix = levelFail, "set TERMIC_DATA_DIR to a shorter path"
		f.Detail = fmt.Sprintf("its path is %d bytes long, at most %d work: %s", n, control.MaxSocketPath, addr.Socket)
	}
	return f
}

func git(ctx context.Context) api.Finding {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	f := api.Finding{Name: "git", Level: levelOK}
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		f.Level, f.Detail, f.Fix = levelFail, "git does not run: "+err.Error(), "install git and make sure that it is on PATH"
		return f
	}
	f.Detail = strings.TrimSpace(string(out))
	return f
}
