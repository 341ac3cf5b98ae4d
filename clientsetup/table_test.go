package clientsetup

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"termic/internal/fault"
	"termic/internal/tomledit"
)

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Clients() {
		if seen[c.ID] || !regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(c.ID) || c.Name == "" {
			t.Errorf("%+v", c)
		}
		seen[c.ID] = true
		if _, err := time.Parse(time.DateOnly, c.Support.On); err != nil || c.Support.Words == "" || strings.HasSuffix(c.Support.Words, ".") {
			t.Errorf("%s: %+v", c.ID, c.Support)
		}
		if c.Support.From != "" && !c.Support.Carries {
			t.Errorf("%s speaks the revision, but an entry would not live past the next token", c.ID)
		}
		if got, err := Find(c.ID); err != nil || got != c {
			t.Errorf("Find(%s): %+v, %v", c.ID, got, err)
		}
	}
	for _, id := range []string{"claude", "codex", "gemini", "opencode", "cursor", "vscode", "zed", "windsurf", "claude-desktop"} {
		if !seen[id] {
			t.Errorf("there is no %s", id)
		}
	}
	if _, err := Find("emacs"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}

// A client that cannot reach the endpoint gets no entry and is told so, with its version.
func TestClientsThatCannot(t *testing.T) {
	r := newRig(t)
	r.program("gemini", "0.61.0")
	r.program("opencode", "1.18.33")
	for _, c := range Clients() {
		if c.Support.From != "" {
			continue
		}
		_, err := r.place.Plan(context.Background(), c.ID, r.entry, Options{})
		r.wantCode(err, fault.Unsupported)
		_, err = r.place.Plan(context.Background(), c.ID, r.entry, Options{Anyway: true})
		if c.Support.Carries != (err == nil) {
			t.Errorf("%s, anyway: %v", c.ID, err)
		}
		st, err := r.place.Detect(context.Background(), c.ID, r.entry)
		r.must(err)
		if st.Usable || st.Why == "" || st.Registered || st.Problem != nil {
			t.Errorf("%+v", st)
		}
	}
	st, err := r.place.Detect(context.Background(), "opencode", r.entry)
	r.must(err)
	if !st.Installed || st.Version != "1.18.33" || !strings.Contains(st.Why, "1.18.33") {
		t.Errorf("%+v", st)
	}
	_, err = r.place.Plan(context.Background(), "opencode", r.entry, Options{})
	if hint := fault.From(err).Hint; !strings.Contains(hint, "1.18.33") {
		t.Errorf("%q", hint)
	}
}

// program puts a program into the PATH that says its version.
func (r *rig) program(name, version string) {
	r.Helper()
	r.must(os.WriteFile(filepath.Join(r.bin, name), []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo '"+version+"'\n"), 0o755))
}

func TestVersions(t *testing.T) {
	r := newRig(t)
	for said, want := range map[string]struct {
		version string
		usable  bool
	}{
		"codex-cli 0.171.0": {"0.171.0", true}, "codex-cli 0.148.0": {"0.148.0", true}, "codex-cli 0.147.9": {"0.147.9", false},
		"codex-cli 1.0": {"1.0", true}, "codex": {"", true}, "codex-cli 0.99.5-alpha.1": {"0.99.5", false},
	} {
		r.program("codex", said)
		st, err := r.place.Detect(context.Background(), "codex", r.entry)
		r.must(err)
		if st.Version != want.version || st.Usable != want.usable || st.Usable != (st.Why == "") {
			t.Errorf("%q: %+v", said, st)
		}
		_, err = r.place.Plan(context.Background(), "codex", r.entry, Options{})
		if (err == nil) != want.usable {
			t.Errorf("%q: %v", said, err)
		}
	}
	r.place.GOOS = "windows"
	_, err := r.place.Plan(context.Background(), "codex", r.entry, Options{})
	r.wantCode(err, fault.Unsupported)
}

// An entry that a person made for a client that we do not register is seen, and taken away only with consent.
func TestAnEntryByHand(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.place.Home, ".config", "zed", "settings.json")
	text := "{\n  // zed\n  \"context_servers\": { \"termic\": { \"url\": \"http://127.0.0.1:1/mcp\" } }\n}\n"
	r.put(file, text)
	if st := r.look("zed"); !st.Registered || !st.Foreign {
		t.Errorf("%+v", st)
	}
	_, err := r.place.Remove(context.Background(), "zed", r.entry, false)
	r.wantCode(err, fault.NeedsConsent)
	r.wantFile(file, text)
	r.remove("zed", true)
	r.wantFile(file, "{\n  // zed\n  \"context_servers\": {}\n}\n")
}

func TestPlaces(t *testing.T) {
	p := Place{Home: "/h", GOOS: "linux", Environ: []string{"XDG_CONFIG_HOME=/x", "CODEX_HOME=rel", "PATH=rel::/nowhere", "A=1", "A=2"}}
	for id, want := range map[string]string{
		"codex": "/h/.codex/config.toml", "claude": "/h/.claude.json", "gemini": "/h/.gemini/settings.json", "opencode": "/x/opencode/opencode.json",
		"cursor": "/h/.cursor/mcp.json", "vscode": "/x/Code/User/mcp.json", "zed": "/x/zed/settings.json",
		"windsurf": "/h/.codeium/windsurf/mcp_config.json", "claude-desktop": "/x/Claude/claude_desktop_config.json",
	} {
		if st, err := p.Look(id, lawEntry); err != nil || st.File != want || st.Installed {
			t.Errorf("%s: %+v, %v", id, st, err)
		}
	}
	p.GOOS = "darwin"
	if st, err := p.Look("vscode", lawEntry); err != nil || st.File != "/h/Library/Application Support/Code/User/mcp.json" {
		t.Errorf("%+v, %v", st, err)
	}
	p.GOOS, p.Environ = "windows", []string{`APPDATA=/a`}
	if st, err := p.Look("claude-desktop", lawEntry); err != nil || st.File != "/a/Claude/claude_desktop_config.json" || st.Usable {
		t.Errorf("%+v, %v", st, err)
	}
	if p := (Place{Environ: []string{"A=1", "A=2"}}); p.env("A") != "2" || p.env("B") != "" {
		t.Error("the last value of a variable counts")
	}
}

// What is offered for copying means the same as what would be written.
func TestFallback(t *testing.T) {
	r := newRig(t)
	for _, c := range Clients() {
		b, err := r.place.Fallback(c.ID, r.entry)
		if !c.Support.Carries {
			r.wantCode(err, fault.Unsupported)
			continue
		}
		r.must(err)
		switch b.Language {
		case "toml":
			m, err := tomledit.Decode([]byte(b.Text))
			r.must(err)
			plan := r.plan(c.ID)
			after, err := tomledit.Decode(plan.After)
			r.must(err)
			if !tomledit.Equal(m, after) {
				t.Errorf("%s", b.Text)
			}
		case "json":
			plan := r.plan(c.ID)
			if !json.Valid([]byte(b.Text)) || string(plan.After) != b.Text {
				t.Errorf("%s\nis not\n%s", b.Text, plan.After)
			}
		case "sh":
			if !strings.Contains(b.Text, quote(r.plan(c.ID).Runs[0][3])) {
				t.Errorf("%s", b.Text)
			}
		default:
			t.Errorf("%+v", b)
		}
	}
	if _, err := r.place.Fallback("codex", Entry{}); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("%v", err)
	}
	r.entry.TokenFile = "/d/a}b"
	_, err := r.place.Fallback("opencode", r.entry)
	r.wantCode(err, fault.Unsupported)
}

func TestReceiptsAreForTheOwnerAlone(t *testing.T) {
	r := newRig(t)
	r.put(r.config(), "api_key = \"hush\"\n")
	r.register("codex")
	st, err := os.Stat(r.place.receiptFile("codex"))
	r.must(err)
	if st.Mode().Perm() != 0o600 {
		t.Errorf("%v", st.Mode())
	}
	r.put(r.place.receiptFile("codex"), "{")
	if r.place.receipt("codex") != nil {
		t.Error("a broken receipt was taken")
	}
	r.remove("codex", false) // asks nothing: the entry is as we write it; the switch stays, since it is not known whose it was
	if got := r.get(r.config()); !strings.Contains(got, "mcp_2026_07_28 = true") || strings.Contains(got, "termic") {
		t.Errorf("%s", got)
	}
	if !slices.Contains(strings.Split(r.get(r.config()), "\n"), `api_key = "hush"`) {
		t.Error("something else is gone")
	}
}

// What a person wrote between our entry and its comma stays.
func TestACommentBehindTheEntryStays(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.place.Home, ".config", "opencode", "opencode.json")
	r.put(file, "{\"mcp\": {\n  \"termic\": {} /* keep */,\n  \"b\": 1\n}}\n")
	r.remove("opencode", true)
	r.wantFile(file, "{\"mcp\": {\n   /* keep */\n  \"b\": 1\n}}\n")
}

// A file whose folder takes no copy is not changed.
func TestNoCopyNoChange(t *testing.T) {
	_, err := backUp(filepath.Join(t.TempDir(), "gone", "config.toml"), nil, time.Now())
	if fault.CodeOf(err) != fault.Unavailable || fault.From(err).Hint == "" {
		t.Errorf("%v", err)
	}
}

// A receipt is for one file. Another one, even of the same content, is not ours to take away.
func TestAReceiptOfAnotherFile(t *testing.T) {
	r := newRig(t)
	r.register("codex") // there was no file
	other := filepath.Join(r.place.Home, "other")
	r.put(filepath.Join(other, "config.toml"), r.get(r.config()))
	r.place.Environ = append(r.place.Environ, "CODEX_HOME="+other)
	r.remove("codex", false)
	if got := r.get(filepath.Join(other, "config.toml")); strings.Contains(got, "termic") || !strings.Contains(got, codexFlag) {
		t.Errorf("%q", got)
	}
}
