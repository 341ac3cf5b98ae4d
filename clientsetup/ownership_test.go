package clientsetup

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termic/internal/atomicfile"
	"termic/internal/fault"
)

// TestWhoseACommandIs: only what was written by the very functions is ours. What merely looks like it may be somebody's own, and is not
// repaired or taken away as ours.
func TestWhoseACommandIs(t *testing.T) {
	plain, bearer := TokenCommand("/a b/it's", false), TokenCommand("/a b/it's", true)
	asked := TermicCommand("/bin/termic", "/data", false)
	for command, want := range map[string]source{
		plain:  {command: plain, file: "/a b/it's"},
		bearer: {command: bearer, file: "/a b/it's", bearer: true},
		asked:  {command: asked, binary: "/bin/termic", folder: "/data"},
		TermicCommand("/bin/termic", "/data", true): {command: TermicCommand("/bin/termic", "/data", true), binary: "/bin/termic", folder: "/data", bearer: true},
	} {
		if got, ok := readSource(command); !ok || got != want {
			t.Errorf("%s: %+v, %v", command, got, ok)
		}
	}
	for _, command := range []string{
		"", "'/data/mcp-token'", "/data/mcp-token", strings.TrimSuffix(plain, "'"), plain + " ", plain + "; curl x", plain + " 'more'", "env " + plain,
		strings.Replace(plain, "termic: no token", "termic: none", 1), strings.TrimSuffix(plain, `'/a b/it'\''s'`), strings.TrimSuffix(plain, `s'`),
		"'/data' '/bin/termic' mcp headers", "TERMIC_DATA_DIR='/data''/bin/termic' mcp headers", "TERMIC_DATA_DIR=/data '/bin/termic' mcp headers",
		"TERMIC_DATA_DIR='/data '/bin/termic mcp headers", "TERMIC_DATA_DIR='/data' '/bin/termic mcp headers", "TERMIC_DATA_DIR='/data' '/bin/termic'",
		asked + " --more", asked + "; curl x", "X=1 " + asked, "TERMIC_DATA_DIR=",
	} {
		if got, ok := readSource(command); ok {
			t.Errorf("%q was taken for ours: %+v", command, got)
		}
	}
}

// TestWhoseAnEntryIs: an entry is ours by its address and by where it gets the token, both of them.
func TestWhoseAnEntryIs(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.place.Home, ".config", "opencode", "opencode.json")
	for name, c := range map[string]struct {
		address, headers string
		ours             bool
	}{
		"as written":          {r.entry.URL, `{"X-Termic-Token":"{file:/data/mcp-token}"}`, true},
		"another port":        {"http://127.0.0.1:1/mcp", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, true},
		"IPv6":                {"http://[::1]:1/mcp", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, true},
		"another machine":     {"http://192.0.2.1:1/mcp", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, false},
		"a name":              {"http://localhost:1/mcp", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, false},
		"https":               {"https://127.0.0.1:1/mcp", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, false},
		"no port":             {"http://127.0.0.1/mcp", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, false},
		"another path":        {"http://127.0.0.1:1/mcp/x", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, false},
		"a query":             {"http://127.0.0.1:1/mcp?x=1", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, false},
		"a user":              {"http://me@127.0.0.1:1/mcp", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, false},
		"no address at all":   {"http://[::1", `{"X-Termic-Token":"{file:/data/mcp-token}"}`, false},
		"a header more":       {r.entry.URL, `{"X-Termic-Token":"{file:/data/mcp-token}","X-Mine":"1"}`, false},
		"another header":      {r.entry.URL, `{"Authorization":"{file:/data/mcp-token}"}`, false},
		"the token itself":    {r.entry.URL, `{"X-Termic-Token":"0123abcd"}`, false},
		"a file without name": {r.entry.URL, `{"X-Termic-Token":"{file:}"}`, false},
		"not closed":          {r.entry.URL, `{"X-Termic-Token":"{file:/data/mcp-token"}`, false},
		"not opened":          {r.entry.URL, `{"X-Termic-Token":"/data/mcp-token}"}`, false},
		"no headers":          {r.entry.URL, `{}`, false},
		"headers of a kind":   {r.entry.URL, `"X-Termic-Token"`, false},
	} {
		r.put(file, `{"mcp":{"termic":{"type":"remote","oauth":false,"enabled":true,"url":"`+c.address+`","headers":`+c.headers+`}}}`)
		st := r.look("opencode")
		if st.Problem != nil || !st.Registered || st.Foreign == c.ours || len(st.Edits) != 0 {
			t.Errorf("%s: registered %v, foreign %v, edits %q, %v", name, st.Registered, st.Foreign, st.Edits, st.Problem)
		}
	}
}

// TestWhatWasChangedByHand: a value of ours that is another one now is told and may make the entry stale; a longer patience does not. A key of
// ours that is gone is no edit.
func TestWhatWasChangedByHand(t *testing.T) {
	r := newRig(t)
	r.register("codex")
	have := r.get(r.config())
	for timeout, c := range map[string]struct{ edit, stale bool }{
		"600": {}, "600.0": {}, "601": {edit: true}, "1e6": {edit: true}, "599": {true, true}, "599.5": {true, true}, `"600"`: {true, true}, "true": {true, true},
	} {
		r.put(r.config(), strings.Replace(have, "tool_timeout_sec = 600", "tool_timeout_sec = "+timeout, 1))
		st := r.look("codex")
		if edited, stale := slices.Contains(st.Edits, "tool_timeout_sec"), len(st.Stale) > 0; edited != c.edit || stale != c.stale {
			t.Errorf("%s: edited %v, stale %+v", timeout, edited, st.Stale)
		}
	}
	r.put(r.config(), strings.Replace(have, "tool_timeout_sec = 600\n", "", 1))
	if st := r.look("codex"); len(st.Edits) != 0 || len(st.Stale) != 1 || st.Stale[0].Have != "nothing" || st.Stale[0].Want != "600" {
		t.Errorf("%q %+v", st.Edits, st.Stale)
	}
}

func TestWhoAsksTermic(t *testing.T) {
	r := newRig(t)
	r.register("codex")
	if st := r.look("codex"); st.ByTermic {
		t.Error("the plain command asks Termic")
	}
	binary := filepath.Join(r.bin, "termic")
	r.put(binary, "")
	var err error
	r.entry, err = r.entry.ByTermic(binary)
	r.must(err)
	r.register("codex")
	if st := r.look("codex"); !st.ByTermic || len(st.Stale) != 0 {
		t.Errorf("%+v", st)
	}
}

func TestSameAndNumbers(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		a, b any
		want bool
	}{
		{int64(600), 600.0, true}, {json.Number("600"), int64(600), true}, {"600", int64(600), false}, {inf, inf, true}, {inf, 1.0, false}, {1.0, inf, false},
		{nil, nil, true}, {nil, false, false}, {map[string]any{"a": int64(1)}, map[string]any{"a": 1.0}, true}, {func() {}, 1, false},
	} {
		if got := same(c.a, c.b); got != c.want {
			t.Errorf("%v and %v are the same: %v", c.a, c.b, got)
		}
	}
	for _, c := range []struct {
		v    any
		want float64
		ok   bool
	}{{3, 3, true}, {int64(4), 4, true}, {5.5, 5.5, true}, {json.Number("6.5"), 6.5, true}, {json.Number("x"), 0, false}, {"7", 0, false}, {nil, 0, false}} {
		if got, ok := number(c.v); got != c.want || ok != c.ok {
			t.Errorf("%v: %v, %v", c.v, got, ok)
		}
	}
	for want, v := range map[string]any{"nothing": nil, `"a"`: "a", "600": int64(600), "?": func() {}} {
		if got := plain(v); got != want {
			t.Errorf("%v is shown as %s", v, got)
		}
	}
	for address, want := range map[string]string{"http://127.0.0.1:4711/mcp": "4711", "http://[::1": "?"} {
		if got := port(address); got != want {
			t.Errorf("the port of %s: %s", address, got)
		}
	}
}

// TestAReceiptIsBelievedWhole: one that cannot be read, or is another client's, is none, however much of it looks right.
func TestAReceiptIsBelievedWhole(t *testing.T) {
	r := newRig(t)
	for text, want := range map[string]bool{`{"client":"codex","act":"add"}`: true, `{"client":"claude","act":"add"}`: false, `{"client":"codex","at":5}`: false,
		`{"client":"codex"`: false, `{}`: false, ``: false, `null`: false} {
		r.put(r.place.receiptFile("codex"), text)
		if got := r.place.receipt("codex"); (got != nil) != want {
			t.Errorf("%s is %+v", text, got)
		}
	}
	r.must(os.Remove(r.place.receiptFile("codex")))
	if r.place.receipt("codex") != nil {
		t.Error("a receipt that is not there was read")
	}
	r.must(r.place.dropReceipt("codex")) // it is gone already
	r.put(filepath.Join(r.place.receiptFile("codex"), "in the way"), "")
	r.wantCode(r.place.dropReceipt("codex"), fault.Unavailable)
	r.wantCode(r.place.keepReceipt(Receipt{Client: "claude", Entry: json.RawMessage("{")}), fault.Internal)
	if r.place.exists(r.place.receiptFile("claude")) {
		t.Error("half a receipt was written")
	}
}

// TestAReceiptFitsItsFileAlone: bytes from before come back only to the file that was written, as it was left.
func TestAReceiptFitsItsFileAlone(t *testing.T) {
	good := Receipt{File: "/f", Written: digest([]byte("x"))}
	if !good.fits("/f", []byte("x")) || good.fits("/g", []byte("x")) || good.fits("/f", []byte("y")) || (&Receipt{File: "/f"}).fits("/f", nil) || (*Receipt)(nil).fits("/f", nil) {
		t.Error("it fits something else")
	}
	if none := (&Receipt{File: "/f", Written: digest(nil)}); !none.fits("/f", nil) {
		t.Error("an empty file that is as it was left does not fit")
	}
}

// liar is an editor with a fault of its own choice in what it makes.
type liar struct {
	codexConfig
	set1 func(doc []byte) []byte
	cut1 func(doc []byte) []byte
	// fails is what set, cut and pack return.
	fails error
}

func (e liar) pack(entry map[string]any) ([]byte, error) {
	out, err := e.codexConfig.pack(entry)
	return out, errors.Join(err, e.fails)
}

func (e liar) set(doc []byte, have, want map[string]any, order []field) ([]byte, error) {
	out, err := e.codexConfig.set(doc, have, want, order)
	if e.set1 != nil {
		out = e.set1(out)
	}
	return out, errors.Join(err, e.fails)
}

func (e liar) cut(doc []byte, was Was, former map[string]any) ([]byte, error) {
	out, err := e.codexConfig.cut(doc, was, former)
	if e.cut1 != nil {
		out = e.cut1(out)
	}
	return out, errors.Join(err, e.fails)
}

// TestAFaultOfOursIsFoundBeforeItIsWritten: whatever an edit gets wrong, in our entry, in the switch or elsewhere, there is no plan.
func TestAFaultOfOursIsFoundBeforeItIsWritten(t *testing.T) {
	swap := func(from, to string) func([]byte) []byte {
		return func(doc []byte) []byte { return []byte(strings.Replace(string(doc), from, to, 1)) }
	}
	for name, f := range map[string]func([]byte) []byte{
		"nothing is done":           func([]byte) []byte { return []byte("model = \"x\"\n") },
		"another address":           swap("127.0.0.1", "192.0.2.1"),
		"the switch is off":         swap(codexFlag+" = true", codexFlag+" = false"),
		"something else is gone":    swap("model = \"x\"\n", ""),
		"something else is there":   swap("model", "models"),
		"it does not read any more": swap("model", "[model"),
	} {
		r := newRig(t)
		r.put(r.config(), "model = \"x\"\n")
		k := codex().(*fileKind)
		k.editor = liar{set1: f}
		if plan, err := k.plan(context.Background(), r.place, r.entry); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s: %+v, %v", name, plan.Act, err)
		}
	}
	for name, f := range map[string]func([]byte) []byte{
		"the entry stays": func(doc []byte) []byte {
			return append(doc, "\n[mcp_servers.termic]\nurl = \"http://127.0.0.1:1/mcp\"\n"...)
		},
		"something else is gone":    func([]byte) []byte { return nil },
		"it does not read any more": swap("model", "[model"),
	} {
		r := newRig(t)
		r.put(r.config(), "model = \"x\"\n")
		r.register("codex")
		r.put(r.config(), r.get(r.config())+"\n[tui]\n")
		k := codex().(*fileKind)
		k.editor = liar{cut1: f}
		if _, err := k.planRemove(context.Background(), r.place, r.entry); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhatAPlanSays: that the file is new, that somebody else's entry goes and comes back, and that a switch stays whose owner is not known.
func TestWhatAPlanSays(t *testing.T) {
	r := newRig(t)
	says := func(plan Plan, word string) bool {
		return slices.ContainsFunc(plan.Notes, func(n string) bool { return strings.Contains(n, word) })
	}
	fresh := r.plan("codex")
	if fresh.Act != ActAdd || !says(fresh, "The file is new") || says(fresh, "is replaced") || !says(fresh, "reads the entry when it is started again") {
		t.Errorf("%s %q", fresh.Act, fresh.Notes)
	}
	r.put(r.config(), "[mcp_servers.termic]\ncommand = \"x\"\n")
	other := r.plan("codex")
	if other.Act != ActReplace || says(other, "The file is new") || !says(other, "is replaced; unregistering brings it back") {
		t.Errorf("%s %q", other.Act, other.Notes)
	}
	r.register("codex")
	back, err := r.place.PlanRemove(context.Background(), "codex", r.entry)
	r.must(err)
	if back.Act != ActRemove || says(back, "stays on") || !same(back.former, map[string]any{"command": "x"}) {
		t.Errorf("%s %q %v", back.Act, back.Notes, back.former)
	}
	r.must(r.place.dropReceipt("codex")) // now it is not known who turned the switch on
	back, err = r.place.PlanRemove(context.Background(), "codex", r.entry)
	r.must(err)
	if !says(back, "The switch "+codexFlag+" stays on") || !strings.Contains(string(back.After), codexFlag+" = true") || back.former != nil {
		t.Errorf("%q\n%s", back.Notes, back.After)
	}
	r.put(r.config(), strings.Replace(r.get(r.config()), codexFlag+" = true", codexFlag+" = false", 1))
	if back, err = r.place.PlanRemove(context.Background(), "codex", r.entry); err != nil || says(back, "stays on") {
		t.Errorf("a switch that is off stays on: %q, %v", back.Notes, err)
	}
}

// TestNothingOfOursIsLeft: an entry that somebody took out is not taken out again, and the one that it replaced does not come back.
func TestNothingOfOursIsLeft(t *testing.T) {
	r := newRig(t)
	r.put(r.config(), "[features]\n"+codexFlag+" = true\n\n[mcp_servers.termic]\ncommand = \"x\"\n")
	r.register("codex")
	const bare = "[features]\n" + codexFlag + " = true\n"
	r.put(r.config(), bare)
	plan, err := r.place.PlanRemove(context.Background(), "codex", r.entry)
	r.must(err)
	if plan.Act != ActNone || string(plan.After) != bare {
		t.Errorf("%s\n%s", plan.Act, plan.After)
	}

	r = newRig(t)
	r.put(r.config(), "[mcp_servers.termic]\ncommand = \"x\"\n")
	r.register("codex") // and the switch with it
	r.put(r.config(), bare+"\n[tui]\n")
	r.remove("codex", false)
	if got := r.get(r.config()); strings.Contains(got, "mcp_servers") || strings.Contains(got, codexFlag) {
		t.Errorf("%s", got)
	}
	r = newRig(t)
	r.put(r.config(), "[features]\n"+codexFlag+" = false\n")
	r.register("codex")
	r.put(r.config(), bare) // the entry was taken out, and the switch left on by hand
	if plan, err := r.place.PlanRemove(context.Background(), "codex", r.entry); err != nil || plan.Act != ActNone || string(plan.After) != bare {
		t.Errorf("%s, %v\n%s", plan.Act, err, plan.After)
	}

	r = newRig(t)
	r.register("codex")
	r.put(r.config(), "[features]\n"+codexFlag+" = false\n") // somebody has done both
	if plan, err := r.place.PlanRemove(context.Background(), "codex", r.entry); err != nil || plan.Act != ActNone {
		t.Errorf("%s, %v", plan.Act, err)
	}
}

// TestShownIsDone: a plan that meets another file is made anew where it does the same, also the replacement of the same entry, and refused
// where another one would go.
func TestShownIsDone(t *testing.T) {
	r := newRig(t)
	const entry = "[mcp_servers.termic]\ncommand = \"x\"\n"
	r.put(r.config(), entry)
	plan := r.plan("codex")
	r.put(r.config(), "model = \"b\"\n"+entry)
	_, err := r.place.Apply(context.Background(), plan, false)
	r.must(err)
	r.remove("codex", false)
	if got := r.get(r.config()); !strings.Contains(got, "model = \"b\"") || !strings.Contains(got, `command = "x"`) {
		t.Errorf("%s", got)
	}
	plan = r.plan("codex")
	changed := strings.Replace(r.get(r.config()), `"x"`, `"y"`, 1)
	r.put(r.config(), changed)
	_, err = r.place.Apply(context.Background(), plan, false)
	r.wantCode(err, fault.Conflict)
	r.wantFile(r.config(), changed)
}

// TestAFileOfOursThatWasChangedIsNotRemoved: the file that we made goes only as we made it.
func TestAFileOfOursThatWasChangedIsNotRemoved(t *testing.T) {
	r := newRig(t)
	r.register("codex")
	plan, err := r.place.PlanRemove(context.Background(), "codex", r.entry)
	r.must(err)
	if !plan.Delete {
		t.Fatalf("%+v", plan.Act)
	}
	mine := r.get(r.config()) + "\n[tui]\n"
	r.put(r.config(), mine)
	if err := removeFile(plan); !errors.Is(err, atomicfile.ErrChanged) {
		t.Errorf("%v", err)
	}
	r.wantFile(r.config(), mine)
	_, err = r.place.Apply(context.Background(), plan, false) // made anew: the person's part stays
	r.must(err)
	r.wantFile(r.config(), "\n[tui]\n")
	r.must(os.Remove(r.config()))
	if err := removeFile(plan); !errors.Is(err, atomicfile.ErrChanged) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// TestAPathThatAClientCannotName: a token file whose path would end the reference to it early is refused, and nothing is planned.
func TestAPathThatAClientCannotName(t *testing.T) {
	r := newRig(t)
	r.entry.TokenFile = "/data}/mcp-token"
	_, err := r.place.Plan(context.Background(), "opencode", r.entry, Options{Anyway: true})
	r.wantCode(err, fault.Unsupported)
}
