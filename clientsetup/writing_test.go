package clientsetup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/atomicfile"
	"termic/internal/fault"
)

// TestATransportThatIsAnother: a fixed value of ours that is another one keeps the client from connecting, and is told so; one that is gone too.
func TestATransportThatIsAnother(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.place.Home, ".config", "opencode", "opencode.json")
	r.register("opencode")
	have := r.get(file)
	for _, to := range []string{`"type": "local"`, `"kind": "remote"`} {
		changed := strings.Replace(have, `"type": "remote"`, to, 1)
		if changed == have {
			t.Fatalf("%s", have)
		}
		r.put(file, changed)
		st := r.look("opencode")
		if len(st.Stale) != 1 || st.Stale[0].Key != "transport" || st.Stale[0].Want != `"remote"` {
			t.Errorf("%s: %+v", to, st.Stale)
		}
	}
}

// TestAnEditorThatFails: what cannot be edited is told in words, whichever step it is, and nothing is written.
func TestAnEditorThatFails(t *testing.T) {
	r := newRig(t)
	const entry = "[mcp_servers.termic]\ncommand = \"x\"\n"
	r.put(r.config(), entry)
	good, err := codex().(*fileKind).plan(context.Background(), r.place, r.entry)
	r.must(err)
	k := codex().(*fileKind)
	k.editor = liar{fails: errOutside}
	_, err = k.plan(context.Background(), r.place, r.entry)
	r.wantCode(err, fault.Conflict)
	_, err = k.planRemove(context.Background(), r.place, r.entry)
	r.wantCode(err, fault.Conflict)
	_, err = k.write(r.place, good) // the replaced entry cannot be written down
	r.wantCode(err, fault.Conflict)
	r.wantFile(r.config(), entry)
	broken := good
	broken.entry = map[string]any{"x": func() {}}
	_, err = codex().(*fileKind).write(r.place, broken)
	r.wantCode(err, fault.Internal)
	broken = good
	broken.Before = []byte("[")
	_, err = codex().(*fileKind).write(r.place, broken)
	r.wantCode(err, fault.Conflict)
	r.wantFile(r.config(), entry)
	if r.place.receipt("codex") != nil {
		t.Error("a receipt of what was not done")
	}
}

// TestAFolderThatIsNone: what cannot be written, or not be copied before, is told in words and stays as it was.
func TestAFolderThatIsNone(t *testing.T) {
	r := newRig(t)
	plan := r.plan("codex")
	dir := filepath.Dir(r.config())
	r.must(os.RemoveAll(dir))
	r.put(dir, "a file\n")
	_, err := r.place.Apply(context.Background(), plan, false)
	r.wantCode(err, fault.Unavailable)
	r.wantFile(dir, "a file\n")

	r = newRig(t)
	r.put(r.config(), "model = \"x\"\n")
	plan = r.plan("codex")
	plan.File = filepath.Join(r.place.Home, "gone", "config.toml") // the copy would lie there
	_, err = codex().(*fileKind).write(r.place, plan)
	r.wantCode(err, fault.Unavailable)
	r.wantFile(r.config(), "model = \"x\"\n")
	if err := removeFile(Plan{Target: filepath.Dir(r.config()), Before: []byte("x")}); err == nil || errors.Is(err, atomicfile.ErrChanged) {
		t.Errorf("a folder was taken for a file: %v", err)
	}
}

// TestWhoeverGoesAwayWritesNothing: a plan whose person has left is not carried out.
func TestWhoeverGoesAwayWritesNothing(t *testing.T) {
	r := newRig(t)
	plan := r.plan("codex")
	ctx, leave := context.WithCancel(context.Background())
	leave()
	if _, err := r.place.Apply(ctx, plan, false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if r.place.exists(r.config()) || r.place.receipt("codex") != nil {
		t.Error("something was written")
	}
}

// TestWhatHappenedMeanwhile: somebody else broke the file, or did the same, between the plan and its carrying out.
func TestWhatHappenedMeanwhile(t *testing.T) {
	r := newRig(t)
	r.put(r.config(), "model = \"x\"\n")
	plan := r.plan("codex")
	r.put(r.config(), "[broken\n")
	_, err := r.place.Apply(context.Background(), plan, false)
	r.wantCode(err, fault.Conflict)
	r.wantFile(r.config(), "[broken\n")

	r.put(r.config(), string(plan.After))
	receipt, err := r.place.Apply(context.Background(), plan, false)
	if err != nil || receipt.Act != ActNone {
		t.Errorf("%+v, %v", receipt, err)
	}
	r.wantFile(r.config(), string(plan.After))
	if r.place.receipt("codex") != nil {
		t.Error("a receipt of what somebody else did")
	}
}

// TestReceiptsOfRepairs: a repair keeps what was known of the same file, and takes nothing over from another one. A removal leaves nothing to
// give back.
func TestReceiptsOfRepairs(t *testing.T) {
	r := newRig(t)
	r.put(r.config(), "[mcp_servers.termic]\ncommand = \"x\"\n")
	r.register("codex")
	r.put(r.config(), r.get(r.config())+"\n[tui]\n")
	r.entry.URL = "http://127.0.0.1:4712/mcp"
	if plan, receipt := r.register("codex"); plan.Act != ActRepair || len(receipt.Former) == 0 || receipt.Written != "" || receipt.Was.Flag != flagNone {
		t.Errorf("%s %+v", plan.Act, receipt)
	}
	other := filepath.Join(r.place.Home, "other")
	ours := r.get(r.config())
	r.put(filepath.Join(other, "config.toml"), ours)
	r.place.Environ = append(r.place.Environ, "CODEX_HOME="+other)
	r.entry.URL = "http://127.0.0.1:4713/mcp"
	if plan, receipt := r.register("codex"); plan.Act != ActRepair || len(receipt.Former) != 0 || receipt.Was.Flag != "" || receipt.File != filepath.Join(other, "config.toml") {
		t.Errorf("%s %+v", plan.Act, receipt)
	}
	r.must(r.place.dropReceipt("codex"))
	r.entry.URL = "http://127.0.0.1:4714/mcp"
	if plan, receipt := r.register("codex"); plan.Act != ActRepair || len(receipt.Former) != 0 {
		t.Errorf("%s %+v", plan.Act, receipt)
	}
	if gone := r.remove("codex", false); gone.Act != ActRemove || gone.Written != "" || len(gone.Entry) != 0 || gone.Origin != nil {
		t.Errorf("%+v", gone)
	}
}
