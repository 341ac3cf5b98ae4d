package sandbox

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"termic/sandbox/attack"
	"termic/sandbox/seatbelt"
)

// mac is the house on a Mac, as far as text can tell.
func (h *house) mac(change ...func(w *Wish)) Policy {
	h.t.Helper()
	return h.compose(append([]func(w *Wish){func(w *Wish) { w.GOOS, w.Sockets = "darwin", []string{h.data + "/control.sock"} }}, change...)...)
}

func (h *house) profile(p Policy) (*seatbelt.Profile, string) {
	h.t.Helper()
	text, err := p.Profile()
	if err != nil {
		h.t.Fatal(err)
	}
	read, err := seatbelt.Parse(text)
	if err != nil {
		h.t.Fatalf("%v\n%s", err, text)
	}
	return read, text
}

// TestProfileHoldsTheTableOfAttacks judges every row of the table that comes down to one access, in every column that has a
// cage, by the text of the profile. The rows' ground is that of the fixture.
func TestProfileHoldsTheTableOfAttacks(t *testing.T) {
	h := newHouse(t)
	h.dirs(h.home+"/.ssh", h.data+"/homes/t2", h.home+"/.local/share")
	g := attack.Ground{Home: h.home, DataDir: h.data, Token: h.data + "/token", Control: h.data + "/control.sock", OtherHome: h.data + "/homes/t2",
		Repo: h.repo, Common: h.git, Worktree: h.wt, Admin: h.admin, Other: h.home + "/trees/other", OtherAdmin: h.git + "/worktrees/other",
		Outside: h.home + "/outside", Tool: h.home + "/tools", Runtime: "/private/var/run/u", Fired: h.home + "/fired", MCPPort: 7777, OtherPort: 9001}
	modes := map[attack.Column]func(*Wish){
		attack.FilesOnly: func(w *Wish) { w.Mode = EnforceFs },
		attack.Full:      func(w *Wish) {},
		attack.FullMCP:   func(w *Wish) { w.MCP = true },
	}
	profiles := map[bool]map[attack.Column]*seatbelt.Profile{false: {}, true: {}}
	for column, mode := range modes {
		profiles[false][column], _ = h.profile(h.mac(mode))
		profiles[true][column], _ = h.profile(h.mac(mode, layer(Layer{Write: []string{"$HOME"}, Owner: true})))
	}
	judged := 0
	for _, row := range attack.Table() {
		if row.Touch == nil {
			continue
		}
		for column, profile := range profiles[row.Wide] {
			got := attack.Held
			for _, r := range requests(t, row.Touch(g)) {
				ok, err := profile.Allows(r)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					got = attack.Out
				}
			}
			judged++
			if got != row.Want[column] {
				t.Errorf("%s in %s: %s, want %s", row.Name, column, got, row.Want[column])
			}
		}
	}
	if judged < 90 {
		t.Errorf("only %d verdicts were judged", judged)
	}
}

// requests are the operations of a touch. Any of them that is allowed lets the touch out.
func requests(t *testing.T, touch attack.Touch) []seatbelt.Request {
	t.Helper()
	at := touch.At
	if at == "/etc/shadow" {
		at = "/etc/master.passwd" // its like on a Mac
	}
	if strings.HasPrefix(at, "/etc/") {
		at = "/private" + at // what the name leads to there
	}
	switch touch.Access {
	case attack.ReadFile:
		return []seatbelt.Request{{Op: "file-read-data", Path: at}}
	case attack.WriteFile:
		return []seatbelt.Request{{Op: "file-write-data", Path: at}, {Op: "file-write-create", Path: at}, {Op: "file-write-unlink", Path: at}}
	case attack.ConnectUnix:
		return []seatbelt.Request{{Op: "network-outbound", Unix: at}}
	case attack.ConnectTCP:
		host, port, err := net.SplitHostPort(at)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		return []seatbelt.Request{{Op: "network-outbound", Host: host, Port: n}}
	}
	t.Fatalf("unknown access %q", touch.Access)
	return nil
}

// TestProfileAndBox: with and without the box, the texts differ by exactly one network rule in Enforce and by nothing in
// EnforceFs.
func TestProfileAndBox(t *testing.T) {
	h := newHouse(t)
	box := func(w *Wish) { w.MCP = true }
	_, without := h.profile(h.mac())
	_, with := h.profile(h.mac(box))
	line := "(allow network-outbound (remote tcp \"localhost:7777\"))\n"
	if strings.Count(with, line) != 1 || strings.Replace(with, line, "", 1) != without {
		t.Errorf("enforce: %s", cmp.Diff(without, with))
	}
	files := func(w *Wish) { w.Mode = EnforceFs }
	_, without = h.profile(h.mac(files))
	_, with = h.profile(h.mac(files, box))
	if without != with {
		t.Errorf("enforce-fs: %s", cmp.Diff(without, with))
	}
}

// TestHostileLayersOnAMac draws lists of every layer that try to reach the data folder. Those that name it are refused; the
// others reach what is beside it, never the token, the socket, or a port that is no door.
func TestHostileLayersOnAMac(t *testing.T) {
	h := newHouse(t)
	h.link(h.data, h.home+"/by-link")
	candidates := []string{"$HOME", "$HOME/.local", "$HOME/.local/share", "$HOME/.local/share/sibling", h.root, h.root + "/users", "$WORKSPACE", h.git,
		h.data, h.data + "/token", h.data + "/homes", "$HOME/by-link", "$HOME/by-link/token", h.priv, "$HOME/trees", "/usr"}
	list := rapid.SliceOfN(rapid.SampledFrom(candidates), 0, 4)
	composed := 0
	rapid.Check(t, func(t *rapid.T) {
		l := Layer{Name: "hostile", Read: list.Draw(t, "read"), Write: list.Draw(t, "write"), Owner: rapid.Bool().Draw(t, "owner")}
		mcp, mode := rapid.Bool().Draw(t, "mcp"), rapid.SampledFrom([]Mode{Enforce, EnforceFs}).Draw(t, "mode")
		p, err := h.try(layer(l), func(w *Wish) {
			w.GOOS, w.Sockets, w.MCP, w.Mode = "darwin", []string{h.data + "/control.sock"}, mcp, mode
		})
		named := slices.ContainsFunc(slices.Concat(l.Read, l.Write), func(s string) bool {
			return strings.HasPrefix(s, h.data) || strings.HasPrefix(s, "$HOME/by-link")
		})
		if (err != nil) != named {
			t.Fatalf("%+v: %v; names the data folder: %v", l, err, named)
		}
		if err != nil {
			return
		}
		composed++
		text, err := p.Profile()
		if err != nil {
			t.Fatal(err)
		}
		profile, err := seatbelt.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		byHand := l.Owner && slices.ContainsFunc(l.Write, func(s string) bool {
			return slices.Contains([]string{"$HOME", h.git, h.root, h.root + "/users"}, s)
		})
		for r, want := range map[*seatbelt.Request]bool{
			{Op: "file-read-data", Path: h.data + "/token"}:               false,
			{Op: "file-write-create", Path: h.data + "/token"}:            false,
			{Op: "file-write-unlink", Path: h.data}:                       false,
			{Op: "network-outbound", Unix: h.data + "/control.sock"}:      false,
			{Op: "file-write-create", Path: h.git + "/hooks/post-commit"}: false,
			{Op: "file-write-create", Path: h.git + "/other-settings"}:    byHand,
			{Op: "file-write-create", Path: h.wt + "/x"}:                  true,
			{Op: "file-read-data", Path: h.priv + "/x"}:                   true,
			{Op: "network-outbound", Host: "127.0.0.1", Port: 7778}:       true,
			{Op: "network-outbound", Host: "127.0.0.1", Port: 7777}:       mcp || mode == EnforceFs,
			{Op: "network-outbound", Host: "127.0.0.1", Port: 9001}:       mode == EnforceFs,
		} {
			if got, err := profile.Allows(*r); got != want || err != nil {
				t.Fatalf("%+v: %v, %v; want %v\n%s", *r, got, err, want, text)
			}
		}
	})
	if composed == 0 {
		t.Error("no list was composed")
	}
}

func TestProfilesAreForMacs(t *testing.T) {
	h := newHouse(t)
	if text, err := h.compose().Profile(); err == nil {
		t.Errorf("a policy for Linux has the profile %s", text)
	}
	if text, err := h.mac(func(w *Wish) { w.Mode = Off }).Profile(); err == nil {
		t.Errorf("mode off has the profile %s", text)
	}
}
