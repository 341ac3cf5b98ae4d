package clientsetup

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/fault"
)

var update = flag.Bool("update", false, "write what is found into testdata")

// The corpus: what people have in their files. For each NAME.in there is NAME.out, the file after registering, or
// NAME.reason, why it was refused. Registering and unregistering by the files gives back NAME.in, byte for byte.
func TestCorpus(t *testing.T) {
	for id, ext := range map[string]string{"codex": ".toml", "opencode": ".json"} {
		inputs, err := filepath.Glob(filepath.Join("testdata", id, "*.in"+ext))
		if err != nil || len(inputs) < 20 {
			t.Fatalf("%d inputs, %v", len(inputs), err)
		}
		for _, in := range inputs {
			name := strings.TrimSuffix(filepath.Base(in), ".in"+ext)
			t.Run(id+"/"+name, func(t *testing.T) {
				doc, err := os.ReadFile(in)
				if err != nil {
					t.Fatal(err)
				}
				corpusCase(t, id, doc, strings.TrimSuffix(in, ".in"+ext), ext)
			})
		}
	}
}

func corpusCase(t *testing.T, id string, doc []byte, base, ext string) {
	r := newRig(t)
	r.entry = lawEntry
	file := r.look(id).File
	r.put(file, string(doc))
	plan, err := r.place.Plan(t.Context(), id, r.entry, Options{Anyway: true})
	if err != nil {
		if fault.CodeOf(err) != fault.Conflict || errors.Is(err, errOutside) || !strings.HasPrefix(filepath.Base(base), "refused-") {
			t.Fatalf("refused: %v", err)
		}
		golden(t, base+".reason", []byte(strings.ReplaceAll(fault.From(err).Message, file, "FILE")+"\n"))
		r.wantFile(file, string(doc))
		return
	}
	if strings.HasPrefix(filepath.Base(base), "refused-") {
		t.Fatalf("was taken:\n%s", plan.After)
	}
	golden(t, base+".out"+ext, plan.After)
	if _, err := r.place.Apply(t.Context(), plan, false); err != nil {
		t.Fatal(err)
	}
	r.wantFile(file, string(plan.After))
	if st := r.look(id); !st.Registered || st.Foreign || len(st.Stale)+len(st.Edits) > 0 {
		t.Errorf("%+v", st)
	}
	if again := r.plan(id); again.Act != ActNone {
		t.Errorf("the second time: %s\n%s", again.Act, again.Diff)
	}
	r.entry.URL = "http://127.0.0.1:4712/mcp" // the port moves, and it is repaired, before it is taken back
	r.register(id)
	r.remove(id, false)
	r.wantFile(file, string(doc))
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
	}
}
