package clientsetup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"termic/internal/fault"
)

// fuzzLaws takes any bytes for a client's file: they are refused in words, or registering and unregistering by structure
// keep the laws.
func fuzzLaws(t *testing.T, k *fileKind, doc []byte) {
	f, err := k.editor.parse(doc)
	if err != nil {
		if fault.From(unreadable("f", err)).Code == fault.Internal {
			t.Fatalf("%q: %v", doc, err)
		}
		return
	}
	plan, err := k.edit("f", doc, f, lawEntry)
	if err != nil {
		if fault.CodeOf(err) != fault.Conflict || errors.Is(err, errOutside) {
			t.Fatalf("%q: %v", doc, err)
		}
		return
	}
	g, err := k.editor.parse(plan.After)
	if err != nil {
		t.Fatalf("%q became %q: %v", doc, plan.After, err)
	}
	if again, err := k.edit("f", plan.After, g, lawEntry); err != nil || again.Act != ActNone || !bytes.Equal(again.After, plan.After) {
		t.Fatalf("the second time, %q became %q: %v", plan.After, again.After, err)
	}
	r, err := k.receiptOf(Place{Records: "/nowhere"}, plan)
	if err != nil {
		t.Fatal(err)
	}
	r.Written = ""
	back, err := k.editBack("f", plan.After, g, false, &r, lawEntry)
	if err != nil && (fault.CodeOf(err) != fault.Conflict || errors.Is(err, errOutside)) {
		t.Fatalf("%q: %v", plan.After, err)
	}
	if err == nil && k.editor.outside(doc, back.After) != nil {
		t.Fatalf("%q came back as %q", doc, back.After)
	}
}

func seed(f *testing.F, id string) {
	files, err := filepath.Glob(filepath.Join("testdata", id, "*.in.*"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no corpus: %v", err)
	}
	for _, path := range files {
		doc, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(doc)
	}
}

func FuzzCodexConfig(f *testing.F) {
	seed(f, "codex")
	f.Fuzz(func(t *testing.T, doc []byte) { fuzzLaws(t, codexKind(), doc) })
}

func FuzzJSONConfig(f *testing.F) {
	seed(f, "opencode")
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, k := range jsonKinds() {
			fuzzLaws(t, k, doc)
		}
	})
}

// FuzzCommand reads commands of others: what is taken for ours is exactly what we would write.
func FuzzCommand(f *testing.F) {
	f.Add(TokenCommand("/a'b", false))
	f.Add(TermicCommand("/t", "/d", true))
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := readSource(text)
		if ok && s.binary == "" && TokenCommand(s.file, s.bearer) != text || ok && s.binary != "" && TermicCommand(s.binary, s.folder, s.bearer) != text {
			t.Errorf("%q is read as %+v", text, s)
		}
	})
}
