package clientsetup

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/internal/fault"
	"termic/internal/tomledit"
)

// The generator puts a config.toml together from pieces that people have in theirs, in every spelling that TOML knows for
// our two places, with noise between them, either kind of line end, a byte order mark, and no last newline.

var (
	tomlNoise = rapid.SampledFrom([]string{"", "", "# note", "  # [mcp_servers.termic]", "#features.mcp_2026_07_28 = true", "\t", "# \"\"\" 'x'", "# é 你好"})
	tomlTail  = rapid.SampledFrom([]string{"", "", "", " # tail", "\t# = [", "  "})

	tomlTop = rapid.SampledFrom([][]string{{`model = "gpt"`}, {`approval_policy = 'on-request'`}, {`notify = [`, `  "a", # one`, `]`},
		{`instructions = """`, `[mcp_servers.termic]`, `url = "x"`, `"""`}, {`x = nan`, `d = 1979-05-27`}, {`"quo ted" . 'k' = 0x1F`}})
	tomlServers = rapid.SampledFrom([][]string{
		{`[mcp_servers.docs]`, `url = "https://example.org/mcp"`},
		{`[ mcp_servers . "docs" ]`, `command = "npx"`, `args = ["-y", "docs"]`, ``, `[mcp_servers.docs.env]`, `A = "b"`},
		{`[mcp_servers]`, `docs = { command = "x", env = { A = "b" } }`},
		{`[mcp_servers]`},
		{`[mcp_servers.docs.http_headers]`, `X = "y"`},
	})
	tomlServersTop = rapid.SampledFrom([][]string{{`mcp_servers.docs.url = "https://example.org"`}, {`mcp_servers = {}`},
		{`mcp_servers = { docs = { url = "https://example.org" } }`}, {`mcp_servers = { "docs".command = 'x', docs.args = [ ] }`}})
	tomlFeatures = rapid.SampledFrom([][]string{{`[features]`}, {`[features]`, `web = true`}, {`["features"]`, `mcp_2026_07_28 = false # off`},
		{`[features]`, `'mcp_2026_07_28' = true`, `b = false`}, {`[features.sub]`, `a = 1`}})
	tomlFeaturesTop = rapid.SampledFrom([][]string{{`features.web = true`}, {`features = {}`}, {`features = { mcp_2026_07_28 = false, web = true }`},
		{`features."mcp_2026_07_28" = true`}})
	tomlForeign = rapid.SampledFrom([][]string{
		{`[mcp_servers.termic]`, `command = "old"`, `args = ["mcp"]`},
		{`[mcp_servers."termic"]`, `url = "http://127.0.0.1:9/mcp"`, `bearer_token_env_var = "T"`, `enabled = false`},
		{`[mcp_servers.termic]`, `command = "old"`, ``, `[mcp_servers.termic.env]`, `A = "b"`, `# below`},
		{`[mcp_servers.termic.http_headers]`, `Authorization = "Bearer x"`, ``, `[mcp_servers.termic.tools.t]`, `approval_mode = "approve"`},
	})
	tomlForeignTop = rapid.SampledFrom([][]string{{`mcp_servers.termic.command = "old"`, `mcp_servers."termic".args = []`}, {`mcp_servers.termic = { command = "old", env = { A = "b" } }`},
		{`mcp_servers = { docs = { url = "u" }, termic = { url = "http://127.0.0.1:9/mcp", http_headers_helper = "old" } }`}})
	tomlOther = rapid.SampledFrom([][]string{{`[projects."/home/me/a b"]`, `trust_level = "trusted"`}, {`[tui]`, `theme = "dark"`, ``, `[tui.x]`, `y = 1`},
		{`[[hooks]]`, `a = 1`, `[[hooks]]`, `a = 2`}, {`[profiles.p.features]`, `mcp_2026_07_28 = false`}, {`[model_providers.x]`, `base_url = "http://[::1]"`}})
)

// drawToml returns a valid config.toml. foreign says whether it may have an entry of our name that is not ours.
func drawToml(t *rapid.T, foreign bool) []byte {
	var top, below [][]string
	some := func(name string, g *rapid.Generator[[]string], most int) [][]string {
		var out [][]string
		for range rapid.IntRange(0, most).Draw(t, name) {
			out = append(out, g.Draw(t, name))
		}
		return out
	}
	top = append(top, some("top", tomlTop, 2)...)
	below = append(below, some("other", tomlOther, 2)...)
	pick := func(name string, header, dotted *rapid.Generator[[]string]) {
		switch rapid.IntRange(0, 3).Draw(t, name+" spelling") {
		case 0:
			top = append(top, dotted.Draw(t, name))
		case 1, 2:
			below = append(below, header.Draw(t, name))
		}
	}
	pick("servers", tomlServers, tomlServersTop)
	pick("features", tomlFeatures, tomlFeaturesTop)
	if foreign {
		pick("foreign", tomlForeign, tomlForeignTop)
	}
	top, below = rapid.Permutation(top).Draw(t, "order"), rapid.Permutation(below).Draw(t, "order")
	var lines []string
	for _, piece := range append(top, below...) {
		for range rapid.IntRange(0, 2).Draw(t, "noise") {
			lines = append(lines, tomlNoise.Draw(t, "noise line"))
		}
		for i, l := range piece {
			if !strings.Contains(strings.Join(piece, ""), `"""`) && i == 0 {
				l += tomlTail.Draw(t, "tail")
			}
			lines = append(lines, l)
		}
	}
	text := strings.Join(lines, "\n")
	if rapid.Bool().Draw(t, "last newline") && text != "" {
		text += "\n"
	}
	if rapid.Bool().Draw(t, "crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if rapid.Bool().Draw(t, "bom") {
		text = "\xef\xbb\xbf" + text
	}
	if _, err := tomledit.Decode([]byte(text)); err != nil {
		t.Skip("not valid in this spelling")
	}
	return []byte(text)
}

var lawEntry = Entry{URL: "http://127.0.0.1:4711/mcp", Folder: "/d", TokenFile: "/d/it's a \"token\"", Command: TokenCommand("/d/it's a \"token\"", false), Bearer: TokenCommand("/d/it's a \"token\"", true)}

// pureAdd is what Plan does to a document.
func pureAdd(t *rapid.T, k *fileKind, doc []byte, e Entry) (Plan, bool) {
	f, err := k.editor.parse(doc)
	if err != nil {
		t.Skip("refused as a whole")
	}
	plan, err := k.edit("f", doc, f, e)
	if err != nil {
		if fault.CodeOf(err) != fault.Conflict || errors.Is(err, errOutside) {
			t.Fatalf("%q: %v", doc, err)
		}
		return Plan{}, false
	}
	return plan, true
}

func pureCut(t *rapid.T, k *fileKind, doc []byte, r *Receipt) []byte {
	f, err := k.editor.parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := k.editBack("f", doc, f, false, r, lawEntry)
	if err != nil {
		t.Fatalf("%q cannot be taken back: %v", doc, err)
	}
	return plan.After
}

// lawReceipt is what is recorded of a plan, without the bytes: as if somebody else had written the file in between.
func lawReceipt(t *rapid.T, k *fileKind, plan Plan) *Receipt {
	r, err := k.receiptOf(Place{Records: "/nowhere"}, plan)
	if err != nil {
		t.Fatal(err)
	}
	r.Written, r.Origin = "", nil
	return &r
}

func codexKind() *fileKind { return codex().(*fileKind) }

func TestCodexAddedIsTakenBackByItsStructure(t *testing.T) {
	k := codexKind()
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		doc := drawToml(t, false)
		plan, ok := pureAdd(t, k, doc, lawEntry)
		if !ok {
			refused++
			return
		}
		if back := pureCut(t, k, plan.After, lawReceipt(t, k, plan)); !bytes.Equal(back, doc) {
			t.Fatalf("from\n%q\nover\n%q\nback to\n%q", doc, plan.After, back)
		}
	})
	t.Logf("%d documents were refused", refused)
}

func TestCodexTwiceIsOnceAndNothingElseChanges(t *testing.T) {
	k := codexKind()
	rapid.Check(t, func(t *rapid.T) {
		doc := drawToml(t, true)
		plan, ok := pureAdd(t, k, doc, lawEntry)
		if !ok {
			return
		}
		before, _ := tomledit.Decode(doc)
		after, err := tomledit.Decode(plan.After)
		if err != nil {
			t.Fatalf("%q does not parse: %v", plan.After, err)
		}
		entry := nested(after, codexEntry...).v.(map[string]any)
		if entry["url"] != lawEntry.URL || entry["http_headers_helper"] != lawEntry.Command || entry["command"] != nil || entry["bearer_token_env_var"] != nil || entry["http_headers"] != nil {
			t.Fatalf("the entry is %v", entry) // C4
		}
		for _, path := range [][]string{codexEntry, codexSwitch} {
			strip(before, path)
			strip(after, path)
		}
		if !tomledit.Equal(before, after) {
			t.Fatalf("%q\nbecame\n%q", doc, plan.After)
		}
		if again, ok := pureAdd(t, k, plan.After, lawEntry); !ok || again.Act != ActNone || !bytes.Equal(again.After, plan.After) {
			t.Fatalf("the second time, %q became %q", plan.After, again.After)
		}
		moved := lawEntry
		moved.URL = "http://127.0.0.1:4712/mcp"
		if repaired, ok := pureAdd(t, k, plan.After, moved); !ok || repaired.Act != ActRepair || len(repaired.After) != len(plan.After) {
			t.Fatalf("with another port, %q became %q", plan.After, repaired.After)
		}
	})
}

// What others wrote in between stays, and an entry of somebody else's comes back by its meaning.
func TestCodexRemovedKeepsWhatOthersWrote(t *testing.T) {
	k := codexKind()
	rapid.Check(t, func(t *rapid.T) {
		doc := drawToml(t, true)
		plan, ok := pureAdd(t, k, doc, lawEntry)
		if !ok || plan.Act == ActNone {
			return
		}
		path := []string{"projects", "/new", "trust_level"}
		changed, err := tomledit.Set(plan.After, path, "trusted")
		if err != nil {
			t.Skip("no room for another project")
		}
		got, err := tomledit.Decode(pureCut(t, k, changed, lawReceipt(t, k, plan)))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := tomledit.Decode(doc)
		if !slices.Equal([]any{nested(got, path...).v}, []any{"trusted"}) {
			t.Fatalf("what was written in between is gone from %v", got)
		}
		strip(got, path)
		strip(want, path)
		if nested(want, codexEntry...).v == nil {
			strip(want, codexEntry) // a table of servers without any may go
			strip(got, codexEntry)
		}
		if !tomledit.Equal(got, want) {
			t.Fatalf("%q\nover\n%q\nback to\n%v", doc, changed, got)
		}
	})
}
