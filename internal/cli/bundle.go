package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"regexp"
	"runtime"
	"strings"
	"time"

	"termic/internal/api"
	"termic/internal/control"
	"termic/internal/fault"
)

// bundleRows is how many rows of the ledger go into a report: what was done in the last minutes of a busy app.
const bundleRows = 300

// report is what a person can send with the description of a fault. What it has no field for is not in it: no token, no prompt, no
// content, and of the settings only what is no text.
type report struct {
	Termic   string           `json:"termic"`
	Made     string           `json:"made"` // RFC 3339, UTC
	Platform string           `json:"platform"`
	Doctor   api.DoctorResult `json:"doctor"`
	Health   json.RawMessage  `json:"health,omitempty"`
	Settings map[string]any   `json:"settings,omitempty"`
	Ledger   []reportRow      `json:"ledger,omitempty"`
	Missing  []string         `json:"missing,omitempty"` // what could not be asked for, and why
}

// reportRow is a row of the ledger without the names in it.
type reportRow struct {
	Time       string `json:"time"`
	Phase      string `json:"phase"`
	By         string `json:"by"` // the kind of the principal
	Face       string `json:"face"`
	Verb       string `json:"verb"`
	Outcome    string `json:"outcome,omitempty"`
	Shape      string `json:"shape,omitempty"`
	DurationMs int64  `json:"duration_ms"`
}

// bundle writes the report into a new file that the user alone can read. client is nil where no app runs.
func (r *runner) bundle(ctx context.Context, client *control.Client, found api.DoctorResult, path string) error {
	rep := report{Termic: r.Version, Made: time.Now().UTC().Format(time.RFC3339), Platform: runtime.GOOS + "/" + runtime.GOARCH, Doctor: found}
	if client != nil {
		r.askForReport(ctx, client, &rep)
	}
	text, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "%s exists already", path).WithHint("Name a new file.")
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "%s cannot be written", path).WithHint("Name a file in a folder of yours.")
	}
	_, err = f.WriteString(r.withoutNames(string(text)) + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return fault.Wrap(errors.Join(err, os.Remove(path)), fault.Unavailable, "%s could not be written whole, so it was removed", path).WithHint("Look whether the disk is full.")
	}
	(&printer{err: r.Stderr}).note("wrote %s; read it before you send it: it has no token, no prompt and no content", clean(path))
	return nil
}

// askForReport asks the app for the parts that it alone knows. A part that it does not tell is named as missing.
func (r *runner) askForReport(ctx context.Context, client *control.Client, rep *report) {
	ask := func(verb, params string) json.RawMessage {
		data, err := client.Call(ctx, verb, json.RawMessage(params), nil)
		if err != nil {
			rep.Missing = append(rep.Missing, verb+": "+fault.From(err).Message)
		}
		return data
	}
	rep.Health = ask("health", `{}`)
	var settings api.SettingsResult
	if data := ask("settings_get", `{}`); data != nil && json.Unmarshal(data, &settings) == nil {
		rep.Settings = map[string]any{}
		for key, value := range settings.Settings {
			rep.Settings[key] = shapeOf(value)
		}
	}
	var ledger api.LedgerResult
	if data := ask("ledger", `{"limit":300}`); data != nil && json.Unmarshal(data, &ledger) == nil {
		for _, row := range ledger.Rows[:min(len(ledger.Rows), bundleRows)] {
			kind, _, _ := strings.Cut(row.Principal, ":")
			rep.Ledger = append(rep.Ledger, reportRow{row.Time, row.Phase, kind, row.Face, row.Verb, row.Outcome, row.Shape, row.DurationMs})
		}
	}
}

// shapeOf is a value of a setting without texts, which may be anybody's.
func shapeOf(value any) any {
	switch v := value.(type) {
	case bool, float64, nil:
		return v
	case string:
		return map[string]any{"text": len(v)}
	case []any:
		return map[string]any{"entries": len(v)}
	case map[string]any:
		return map[string]any{"entries": len(v)}
	}
	return "other"
}

// hexes are what a token looks like, and a commit or a digest too.
var hexes = regexp.MustCompile(`[0-9a-fA-F]{32,}`)

// withoutNames takes the folder and the name of the user out of a text, and whatever could be a token.
func (r *runner) withoutNames(text string) string {
	if home := r.Getenv("HOME"); len(home) > 1 {
		text = strings.ReplaceAll(text, home, "~")
	}
	if u, err := user.Current(); err == nil && len(u.Username) > 2 && u.Username != "root" {
		text = strings.ReplaceAll(text, u.Username, "USER")
	}
	return hexes.ReplaceAllString(text, "(hex)")
}
