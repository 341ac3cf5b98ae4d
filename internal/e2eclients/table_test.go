package e2eclients

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termic/clientsetup"
)

func TestRowOf(t *testing.T) {
	const now = clientsetup.Revision
	modern := func(method string, status int) Exchange { return Exchange{method, now, "Authorization", status} }
	for name, tt := range map[string]struct {
		seen []Exchange
		want Row
	}{
		"nothing": {nil, Row{Opens: "nothing", Sends: "nothing", Token: "no", Again: "not tried", Button: "no"}},
		"noise":   {[]Exchange{{"", "", "", 404}}, Row{Opens: "nothing", Sends: "nothing", Token: "no", Again: "not tried", Button: "no"}},
		"works": {[]Exchange{modern("server/discover", 200), modern("tools/list", 200), modern("tools/call", 200), modern("tools/call", 401), modern("tools/call", 200)},
			Row{Opens: "`server/discover`, " + now, Sends: "`server/discover`, `tools/list`, `tools/call`", Token: "`Authorization`", Again: "yes", Button: "yes"}},
		"gives up": {[]Exchange{modern("server/discover", 200), modern("tools/call", 200), modern("tools/call", 401), {"initialize", "2025-06-18", "Authorization", 401}},
			Row{Opens: "`server/discover`, " + now, Sends: "`server/discover`, `tools/call`, `initialize`", Token: "`Authorization`", Again: "no", Button: "yes"}},
		"lists only": {[]Exchange{modern("server/discover", 200), modern("tools/list", 200)},
			Row{Opens: "`server/discover`, " + now, Sends: "`server/discover`, `tools/list`", Token: "`Authorization`", Again: "not tried", Button: "no"}},
		"handshake": {[]Exchange{{"initialize", "2025-11-25", "X-Termic-Token", 400}, {"initialize", "2025-11-25", "X-Termic-Token", 400}},
			Row{Opens: "`initialize`, 2025-11-25", Sends: "`initialize`", Token: "`X-Termic-Token`", Again: "not tried", Button: "no"}},
		"no token": {[]Exchange{{"server/discover", now, "", 401}, {"tools/call", now, "", 200}},
			Row{Opens: "`server/discover`, " + now, Sends: "`server/discover`, `tools/call`", Token: "no", Again: "not tried", Button: "no"}},
		"hostile": {[]Exchange{{"a|b`\n\\c" + strings.Repeat("x", 100), "", "", 400}},
			Row{Opens: "`abc" + strings.Repeat("x", 37) + "`, no revision", Sends: "`abc" + strings.Repeat("x", 37) + "`", Token: "no", Again: "not tried", Button: "no"}},
	} {
		tt.want.Client, tt.want.Version, tt.want.Date = "C", "1", "2026-01-02"
		if got := RowOf("C", "1", "2026-01-02", now, tt.seen); got != tt.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, tt.want)
		}
	}
}

func TestRewriteKeepsWhatWasNotTried(t *testing.T) {
	row := func(client, version string) Row {
		return Row{client, version, "2026-01-02", "o", "s", "t", "a", "b"}
	}
	page := "# Page\n" + tableBegins + tableEnds + "after\n"
	first, err := Rewrite(page, []Row{row("A", "1"), row("B", "1")})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Rewrite(first, []Row{row("C", "1"), row("B", "2|\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := "# Page\n" + tableBegins +
		"| client | version | tried on | opens with | sends | token came in | new token after 401 | button |\n|---|---|---|---|---|---|---|---|\n" +
		"| A | 1 | 2026-01-02 | o | s | t | a | b |\n| B | 2/ | 2026-01-02 | o | s | t | a | b |\n| C | 1 | 2026-01-02 | o | s | t | a | b |\n" +
		tableEnds + "after\n"
	if second != want {
		t.Errorf("got\n%s\nwant\n%s", second, want)
	}
	if again, err := Rewrite(second, nil); err != nil || again != second {
		t.Errorf("%v\n%s", err, again)
	}
	for _, bad := range []string{"", tableBegins, tableEnds + tableBegins, page + page, tableBegins + "| a |\n|---|\n" + tableEnds, strings.Replace(first, "| A | 1 |", "| A |", 1)} {
		if got, err := Rewrite(bad, nil); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

// Whatever a row holds, it comes back as one row, and nothing around the table changes.
func TestRewriteOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z|\n\r ` + "`" + `é]{0,12}`)
		var rows []Row
		for i := range rapid.IntRange(0, 5).Draw(t, "rows") {
			rows = append(rows, Row{Client: string(rune('A'+i)) + text.Draw(t, "client"), Version: text.Draw(t, "version"), Opens: text.Draw(t, "opens")})
		}
		page, err := Rewrite("before\n"+tableBegins+tableEnds+"after\n", rows)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(page, "before\n"+tableBegins) || !strings.HasSuffix(page, tableEnds+"after\n") || strings.Count(page, "\n") != 2+2+2+len(rows) {
			t.Fatalf("%q", page)
		}
	})
}

// What the page says of a client and what the registration thinks of it agree: there is a button for those, and for those
// alone, that were seen to call a tool.
func TestThePageAgreesWithTheProduct(t *testing.T) {
	page, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Rewrite(string(page), nil); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), tableBegins)
	text, _, _ := strings.Cut(rest, tableEnds)
	rows, err := readTable(text)
	if err != nil {
		t.Fatal(err)
	}
	button := map[string]string{}
	for _, cells := range rows {
		button[cells[0]] = cells[len(cells)-1]
	}
	for _, c := range clientsetup.Clients() {
		if got, ok := button[c.Name]; !ok || (got == "yes") != (c.Support.From != "") {
			t.Errorf("the page has %q for the button of %s, which is offered from version %q on", got, c.Name, c.Support.From)
		}
	}
}
