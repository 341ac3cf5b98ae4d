package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"termic/internal/grant"
	"termic/internal/secret"
)

// TestWire sends the requests of testdata/wire, byte for byte, each on a connection of its own, and compares what comes
// back. In a request, $NAME stands for what differs from run to run, and the length of the body is filled in.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	check(t, err)
	if len(files) == 0 {
		t.Fatal("there are no transcripts")
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			r := newRig(t, nil, Limits{})
			r.offers.Store(strings.HasPrefix(filepath.Base(path), "resources"))
			archive, err := txtar.ParseFile(path)
			check(t, err)
			var out []txtar.File
			for _, f := range archive.Files {
				name, isRequest := strings.CutSuffix(f.Name, ".request")
				if !isRequest {
					continue
				}
				got := r.transcribe(string(f.Data))
				out = append(out, f, txtar.File{Name: name + ".response", Data: []byte(got)})
				if i := slices.IndexFunc(archive.Files, func(g txtar.File) bool { return g.Name == name+".response" }); !*update {
					if i < 0 {
						t.Errorf("%s has no response", name)
					} else if diff := cmp.Diff(string(archive.Files[i].Data), got); diff != "" {
						t.Errorf("%s:\n%s", name, diff)
					}
				}
			}
			if *update {
				archive.Files = out
				check(t, os.WriteFile(path, txtar.Format(archive), 0o644))
			}
		})
	}
}

// transcribe sends a request and writes down its response.
func (r *rig) transcribe(text string) string {
	r.t.Helper()
	c := r.dial()
	r.send(c, r.wireForm(text))
	a := r.receive(c)
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", a.status)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range a.header {
			if !yield(n) {
				return
			}
		}
	}) {
		if name != "Date" {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(a.header[name], " | "))
		}
	}
	body := a.body
	for name, class := range map[string]grant.Class{"$TOOLS_FULL": grant.Full, "$TOOLS_SCOPED": grant.Scoped} {
		body = strings.ReplaceAll(body, string(makeTools(class, nil).listed), name)
	}
	if body == "" {
		return b.String()
	}
	return b.String() + "\n" + body + "\n"
}

// wireForm fills in a request and gives it the line ends of HTTP.
func (r *rig) wireForm(text string) string {
	text = strings.NewReplacer("$HOST", r.host, "$FULL", r.full.Reveal(), "$SCOPED", r.scoped.Reveal(), "$OTHER", secret.Mint().Reveal(),
		"$META", meta, "$PORT", r.host[strings.LastIndex(r.host, ":")+1:], "$BAD", "\xff").Replace(text)
	head, body, hasBody := strings.Cut(text, "\n\n")
	body = strings.TrimSuffix(body, "\n")
	head = strings.TrimSuffix(head, "\n")
	if hasBody && !strings.Contains(head, "Content-Length") && !strings.Contains(head, "Transfer-Encoding") {
		head += fmt.Sprintf("\nContent-Length: %d", len(body))
	}
	if strings.Contains(head, "Transfer-Encoding: chunked") {
		body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}
	return strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
}

// TestToolsArePinned makes every byte that a model reads of us a change that somebody reads.
func TestToolsArePinned(t *testing.T) {
	for name, set := range map[string]toolset{"full": makeTools(grant.Full, nil), "full_jobs": makeTools(grant.Full, []string{"jobs"}), "full_approvals": makeTools(grant.Full, []string{"approvals"}), "scoped": makeTools(grant.Scoped, allSets),
		"readonly": makeTools(grant.ReadOnly, allSets), "operator": makeTools(grant.Operator, allSets), "approve": makeTools(grant.Approve, allSets)} {
		path := "testdata/tools_" + name + ".json"
		got := append([]byte("{"), set.listed...)
		got = append(bytes.ReplaceAll(got, []byte(`{"name":"`), []byte("\n"+`{"name":"`)), "}\n"...)
		if !json.Valid(got) {
			t.Fatalf("the tools of %s are no JSON:\n%s", name, got)
		}
		if *update {
			check(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		check(t, err)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("the tools of %s changed; if that is meant, run `go test ./mcp -update`:\n%s", name, diff)
		}
	}
}
