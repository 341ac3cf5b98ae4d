package clientsetup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/internal/atomicfile"
	"termic/internal/fault"
	"termic/internal/tomledit"
)

const ourTable = "[mcp_servers.termic]\n"

func TestRegisterCodexAndTakeItBack(t *testing.T) {
	r := newRig(t)
	const text = "model = \"x\" # mine\n\n[mcp_servers.docs]\nurl = \"https://example.org\"" // no last newline
	r.put(r.config(), text)
	plan, receipt := r.register("codex")
	if plan.Act != ActAdd || !strings.Contains(plan.Diff, "+[mcp_servers.termic]") || !strings.Contains(plan.Diff, "+mcp_2026_07_28 = true") {
		t.Errorf("%s\n%s", plan.Act, plan.Diff)
	}
	if st := r.look("codex"); !st.OK() || st.Receipt == nil {
		t.Errorf("%+v", st)
	}
	r.wantFile(receipt.Backup, text)
	if st, err := os.Stat(receipt.Backup); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", st, err)
	}
	r.remove("codex", false)
	r.wantFile(r.config(), text)
	if r.place.receipt("codex") != nil {
		t.Error("the receipt stayed")
	}
	r.remove("codex", false) // nothing is there any more
	r.wantFile(r.config(), text)
}

func TestRegisterCodexWithoutAFile(t *testing.T) {
	r := newRig(t)
	r.must(os.Remove(filepath.Dir(r.config())))
	plan, receipt := r.register("codex")
	if !plan.Missing || receipt.Backup != "" {
		t.Errorf("%+v %+v", plan, receipt)
	}
	if st, err := os.Stat(r.config()); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the new file: %v, %v", st, err)
	}
	r.remove("codex", false)
	if r.place.exists(filepath.Dir(r.config())) {
		t.Error("the folder that was made stayed")
	}
}

func TestC1EveryNotationIsEditedWhereItStands(t *testing.T) {
	for name, text := range map[string]string{
		"sub-table": "[mcp_servers.termic]\nurl = \"http://127.0.0.1:1/mcp\"\n[mcp_servers.termic.http_headers]\nX = \"y\"\n",
		"dotted":    "mcp_servers.termic.url = \"http://127.0.0.1:1/mcp\"\nmodel = \"x\"\n",
		"inline":    "mcp_servers = { termic = { command = \"x\" }, b = { url = \"u\" } }\n",
		"quoted":    "[\"mcp_servers\" . 'termic']\ncommand = \"x\"\n",
	} {
		r := newRig(t)
		r.put(r.config(), text)
		r.register("codex")
		got := r.get(r.config())
		m, err := tomledit.Decode([]byte(got)) // C2
		if err != nil {
			t.Fatalf("%s: %q: %v", name, got, err)
		}
		if e := nested(m, codexEntry...).v.(map[string]any); e["url"] != r.entry.URL || len(e) != 3 { // C3: known keys only
			t.Errorf("%s: %v", name, e)
		}
		r.remove("codex", false)
		r.wantFile(r.config(), text)
	}
}

func TestC2ABrokenFileStaysAsItIs(t *testing.T) {
	r := newRig(t)
	for _, text := range []string{"[mcp_servers.termic]\nurl = \"a\"\n[mcp_servers.termic]\nurl = \"b\"\n", "model = \n", "mcp_servers = 1\n", "[[mcp_servers]]\nx = 1\n",
		"[[mcp_servers.termic]]\nurl = \"x\"\n", "features = []\n", "[features]\nmcp_2026_07_28 = \"yes\"\n", "model = “smart”\n" /* C14 */} {
		r.put(r.config(), text)
		_, err := r.place.Plan(context.Background(), "codex", r.entry, Options{})
		r.wantCode(err, fault.Conflict)
		if f := fault.From(err); !strings.Contains(f.Message, r.config()) || f.Hint == "" {
			t.Errorf("%q: %+v", text, f)
		}
		r.wantFile(r.config(), text)
		if st := r.look("codex"); st.Problem == nil {
			t.Errorf("%q: %+v", text, st)
		}
		_, err = r.place.PlanRemove(context.Background(), "codex", r.entry)
		r.wantCode(err, fault.Conflict)
	}
}

func TestC4TransportIsReplacedWhole(t *testing.T) {
	r := newRig(t)
	text := "[mcp_servers.termic]\ncommand = \"old\"\nargs = [\"mcp\"]\nenabled_tools = [\"a\"]\n\n[mcp_servers.termic.env]\nTOKEN = \"s\"\n"
	r.put(r.config(), text)
	plan, _ := r.register("codex")
	if got := r.get(r.config()); plan.Act != ActReplace || strings.Contains(got, "command =") || strings.Contains(got, "TOKEN") || strings.Contains(got, "enabled_tools") {
		t.Errorf("%s: %s", plan.Act, got)
	}
	// Somebody writes the file in between: the bytes are not known any more, the old entry is.
	r.put(r.config(), r.get(r.config())+"\n[tui]\ntheme = \"x\"\n")
	r.remove("codex", false)
	m, err := tomledit.Decode([]byte(r.get(r.config())))
	r.must(err)
	want, _ := tomledit.Decode([]byte(text))
	if !tomledit.Equal(nested(m, codexEntry...).v, nested(want, codexEntry...).v) || nested(m, "features").v != nil || nested(m, "tui", "theme").v != "x" {
		t.Errorf("%s", r.get(r.config()))
	}
}

func TestC6LineEndsAndCommentsStay(t *testing.T) {
	r := newRig(t)
	text := "\xef\xbb\xbf# top\r\nmodel = \"x\"   # odd\r\n\r\n[tui]\r\n# end"
	r.put(r.config(), text)
	r.register("codex")
	got := r.get(r.config())
	if !strings.HasPrefix(got, "\xef\xbb\xbf# top\r\nmodel = \"x\"   # odd\r\n\r\n[tui]\r\n# end\r\n") || strings.Contains(strings.ReplaceAll(got, "\r\n", ""), "\n") || strings.HasSuffix(got, "\n") {
		t.Errorf("%q", got)
	}
	r.remove("codex", false)
	r.wantFile(r.config(), text)
}

func TestC8LinksAndModesStay(t *testing.T) {
	r := newRig(t)
	dots := filepath.Join(r.place.Home, "dotfiles")
	real := filepath.Join(dots, "codex.toml")
	r.put(real, "model = \"x\"\n")
	r.must(os.Chmod(real, 0o640))
	r.must(os.Symlink("dotfiles/codex.toml", filepath.Join(r.place.Home, "middle")))
	r.must(os.Symlink("../middle", r.config()))
	plan, receipt := r.register("codex")
	if plan.Target != real || !slices.ContainsFunc(plan.Notes, func(n string) bool { return strings.Contains(n, real) }) {
		t.Errorf("%+v", plan)
	}
	if st, err := os.Lstat(r.config()); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link: %v %v", st, err)
	}
	if st, err := os.Lstat(real); err != nil || st.Mode() != 0o640 {
		t.Errorf("the file: %v %v", st, err)
	}
	if filepath.Dir(receipt.Backup) != filepath.Dir(r.config()) {
		t.Errorf("the copy is in %s, among the dotfiles", receipt.Backup)
	}
	r.remove("codex", false)
	r.wantFile(real, "model = \"x\"\n")
}

func TestC8DanglingAndLoop(t *testing.T) {
	r := newRig(t)
	real := filepath.Join(r.place.Home, "dotfiles", "later.toml")
	r.must(os.Symlink(real, r.config()))
	r.register("codex")
	if !strings.Contains(r.get(real), ourTable) {
		t.Error("the file behind the link was not made")
	}
	r.remove("codex", false)
	if r.place.exists(real) {
		t.Error("the file behind the link stayed")
	}
	if _, err := os.Readlink(r.config()); err != nil {
		t.Errorf("the link: %v", err)
	}
	r.must(os.Remove(r.config()))
	r.must(os.Symlink("config.toml", r.config()))
	_, err := r.place.Plan(context.Background(), "codex", r.entry, Options{})
	r.wantCode(err, fault.Conflict)
}

func TestC10TheSecondTimeTouchesNothing(t *testing.T) {
	for _, id := range []string{"codex", "opencode", "windsurf"} {
		r := newRig(t)
		plan, _ := r.register(id)
		then := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		r.must(os.Chtimes(plan.File, then, then))
		before, err := os.Stat(plan.File)
		r.must(err)
		entries, err := os.ReadDir(filepath.Dir(plan.File))
		r.must(err)
		again, _ := r.register(id)
		after, err := os.Stat(plan.File)
		r.must(err)
		if again.Act != ActNone || again.Diff != "" || !os.SameFile(before, after) || !after.ModTime().Equal(then) {
			t.Errorf("%s: %s, %v, %v", id, again.Act, before, after)
		}
		if now, _ := os.ReadDir(filepath.Dir(plan.File)); len(now) != len(entries) {
			t.Errorf("%s: there are other files: %v", id, now)
		}
	}
}

func TestC9CommentsOfJSONStay(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.place.Home, ".config", "opencode", "opencode.jsonc")
	text := "{\n  // mine\n  \"mcp\": {\n    \"docs\": { \"type\": \"local\", \"command\": [\"x\"] }, // docs\n  },\n}\n"
	r.put(file, text)
	r.register("opencode")
	if got := r.get(file); !strings.Contains(got, "// mine") || !strings.Contains(got, "}, // docs\n    \"termic\": {") {
		t.Errorf("%s", got)
	}
	r.remove("opencode", false)
	r.wantFile(file, text)
}

func TestC15AnEntryThatWasChangedByHandAsks(t *testing.T) {
	r := newRig(t)
	const text = "model = \"x\"\n"
	r.put(r.config(), text)
	r.register("codex")
	r.put(r.config(), r.get(r.config())+"startup_timeout_sec = 5\n")
	changed := r.get(r.config())
	if st := r.look("codex"); !slices.Equal(st.Edits, []string{"startup_timeout_sec"}) || !st.OK() {
		t.Errorf("%+v", st)
	}
	_, err := r.place.Remove(context.Background(), "codex", r.entry, false)
	r.wantCode(err, fault.NeedsConsent)
	if losses, ok := fault.From(err).Data["losses"].([]string); !ok || len(losses) != 1 || !strings.Contains(losses[0], "startup_timeout_sec") {
		t.Errorf("%+v", fault.From(err).Data)
	}
	r.wantFile(r.config(), changed)

	// To register again keeps it, and then it is known.
	r.entry.URL = "http://127.0.0.1:4712/mcp"
	if plan, _ := r.register("codex"); plan.Act != ActRepair || !strings.Contains(r.get(r.config()), "startup_timeout_sec = 5") {
		t.Errorf("%s: %s", plan.Act, r.get(r.config()))
	}
	r.remove("codex", false)
	r.wantFile(r.config(), text)
}

func TestAnEntryThatIsNotOursIsRemovedOnlyWithConsent(t *testing.T) {
	r := newRig(t)
	r.put(r.config(), "[mcp_servers.termic]\ncommand = \"x\"\n")
	_, err := r.place.Remove(context.Background(), "codex", r.entry, false)
	r.wantCode(err, fault.NeedsConsent)
	r.remove("codex", true)
	r.wantFile(r.config(), "")
}

// The switch of the person's own stays; one that was off is off again.
func TestTheSwitchIsLeftAsItWas(t *testing.T) {
	for _, text := range []string{"[features]\nmcp_2026_07_28 = true # mine\n", "[features]\nmcp_2026_07_28 = false # not yet\nx = true\n", "features.x = true\n"} {
		r := newRig(t)
		r.put(r.config(), text)
		r.register("codex")
		r.put(r.config(), r.get(r.config())+"\n[tui]\n") // so that the bytes from before do not help
		r.remove("codex", false)
		r.wantFile(r.config(), text+"\n[tui]\n")
	}
}

// The entry was taken out by hand, but the switch was ours.
func TestRemoveTakesTheSwitchOfARemovedEntry(t *testing.T) {
	r := newRig(t)
	r.register("codex")
	r.put(r.config(), "[features]\nmcp_2026_07_28 = true\n\n[tui]\n")
	r.remove("codex", false)
	r.wantFile(r.config(), "\n[tui]\n")
}

func TestStale(t *testing.T) {
	r := newRig(t)
	r.register("codex")
	have := r.entry
	keys := func() []string {
		var out []string
		for _, s := range r.look("codex").Stale {
			out = append(out, s.Key)
		}
		return out
	}
	want := func(what string, list ...string) {
		t.Helper()
		if got := keys(); !slices.Equal(got, list) {
			t.Errorf("%s: %v, want %v", what, got, list)
		}
		if st := r.look("codex"); len(list) > 0 && st.OK() {
			t.Errorf("%s: called OK", what)
		}
	}
	want("as written")
	r.entry.URL = "http://127.0.0.1:4712/mcp"
	want("port", "url")
	r.entry = have
	r.entry.TokenFile = "/elsewhere/mcp-token"
	want("data folder", "token")
	r.entry = have
	r.put(r.config(), strings.ReplaceAll(r.get(r.config()), "mcp_2026_07_28 = true", "mcp_2026_07_28 = false"))
	want("switch", "flag")
	r.put(r.config(), strings.ReplaceAll(r.get(r.config()), "tool_timeout_sec = 600", "tool_timeout_sec = 30\nenabled = false"))
	want("by hand", "timeout", "disabled", "flag")
	r.register("codex")
	want("repaired")

	binary := filepath.Join(r.bin, "termic")
	r.put(binary, "")
	var err error
	r.entry, err = have.ByTermic(binary)
	r.must(err)
	if plan, _ := r.register("codex"); plan.Act != ActRepair {
		t.Errorf("%+v", plan)
	}
	want("by the program")
	r.must(os.Remove(binary))
	want("the program moved", "command")
	r.entry.Folder = "/elsewhere"
	want("the program's data folder", "token")
}

func TestCodexShadows(t *testing.T) {
	r := newRig(t)
	r.put(r.config(), "profile = \"p\"\n\n[profiles.p.features]\nmcp_2026_07_28 = false\n")
	r.register("codex")
	dir := filepath.Join(r.place.Home, "repo")
	r.put(filepath.Join(dir, ".codex", "config.toml"), "[mcp_servers.termic]\nurl = \"http://127.0.0.1:1/mcp\"\n")
	r.place.Folders = []string{dir, filepath.Join(r.place.Home, "gone")}
	st := r.look("codex")
	if len(st.Shadows) != 2 || st.Shadows[0].Scope != "profile" || st.Shadows[1].Where != dir || st.OK() {
		t.Errorf("%+v", st.Shadows)
	}
}

func TestTheLastFiveCopiesAreKept(t *testing.T) {
	r := newRig(t)
	r.put(r.config(), "# first\n")
	r.put(r.config()+".termic-notes", "mine")
	for i := range 8 {
		r.entry.URL = "http://127.0.0.1:47" + string(rune('0'+i)) + "1/mcp"
		r.register("codex")
	}
	names, err := filepath.Glob(r.config() + ".termic-2*")
	r.must(err)
	if len(names) != keptBackups {
		t.Errorf("%v", names)
	}
	r.wantFile(r.config()+".termic-notes", "mine")
	r.remove("codex", false)
	r.wantFile(r.config(), "# first\n")
}

// Codex writes its file while it runs. Whatever it does between plan and write is kept, and ours comes on top.
func TestAnotherWriterInBetween(t *testing.T) {
	r := newRig(t)
	r.put(r.config(), "model = \"a\"\n")
	plan := r.plan("codex")
	r.put(r.config(), "model = \"b\"\n") // after it was shown
	_, err := r.place.Apply(context.Background(), plan, false)
	r.must(err)
	if got := r.get(r.config()); !strings.HasPrefix(got, "model = \"b\"\n") || !strings.Contains(got, ourTable) {
		t.Errorf("%s", got)
	}
	r.remove("codex", false)
	r.wantFile(r.config(), "model = \"b\"\n")

	plan = r.plan("codex")
	r.put(r.config(), "[mcp_servers.termic]\ncommand = \"x\"\n") // what was shown as an addition would now replace
	_, err = r.place.Apply(context.Background(), plan, false)
	r.wantCode(err, fault.Conflict)
	r.wantFile(r.config(), "[mcp_servers.termic]\ncommand = \"x\"\n")
	if r.place.receipt("codex") != nil {
		t.Error("a receipt of what was not done")
	}
}

// A writer that never rests is not fought with for ever, and nothing is left behind.
func TestAWriterThatNeverRests(t *testing.T) {
	r := newRig(t)
	r.put(r.config(), "n = 0\n")
	k := codex().(*fileKind)
	n := 0
	k.editor = restless{codexConfig{}, func() {
		n++
		r.put(r.config(), "n = "+strings.Repeat("1", n)+"\n")
	}}
	plan, err := k.plan(context.Background(), r.place, r.entry)
	r.must(err)
	_, err = k.apply(context.Background(), r.place, plan)
	r.wantCode(err, fault.Unavailable)
	if names, _ := filepath.Glob(r.config() + "*"); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
	if strings.Contains(r.get(r.config()), "termic") {
		t.Error("it was written after all")
	}
}

// restless writes the file after each plan.
type restless struct {
	codexConfig
	write func()
}

func (e restless) outside(before, after []byte) error {
	err := e.codexConfig.outside(before, after)
	e.write()
	return err
}

func TestApplyNeverWritesWhatDoesNotRead(t *testing.T) {
	k := codex().(*fileKind)
	k.editor = clumsy{}
	r := newRig(t)
	r.put(r.config(), "model = \"x\"\n")
	if _, err := k.plan(context.Background(), r.place, r.entry); !errors.Is(err, errOutside) {
		t.Errorf("%v", err)
	}
}

// clumsy is an editor with a fault.
type clumsy struct{ codexConfig }

func (c clumsy) set(doc []byte, have, want map[string]any, order []field) ([]byte, error) {
	out, err := c.codexConfig.set(doc, have, want, order)
	return append([]byte("more = 1\n"), out...), err
}

func TestNotWritable(t *testing.T) {
	r := newRig(t)
	r.must(os.Mkdir(r.config(), 0o755))
	_, err := r.place.Plan(context.Background(), "codex", r.entry, Options{})
	r.wantCode(err, fault.Unavailable)
	if err := unwritable("f", atomicfile.ErrChanged); !errors.Is(err, atomicfile.ErrChanged) {
		t.Errorf("%v", err)
	}
	r.wantCode(unwritable("f", os.ErrPermission), fault.Unavailable)

	r.must(os.Remove(r.config()))
	r.place.Records = filepath.Join(r.empty("file"), "x") // a folder that cannot be made
	_, err = r.place.Apply(context.Background(), r.plan("codex"), false)
	r.wantCode(err, fault.Unavailable)
	if r.place.exists(r.config()) {
		t.Error("written without a receipt")
	}
}

// empty makes an empty file and returns its path.
func (r *rig) empty(name string) string {
	path := filepath.Join(r.place.Home, name)
	r.put(path, "")
	return path
}
