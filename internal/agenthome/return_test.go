//go:build unix

package agenthome

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// in is a point in time some hours from now, in milliseconds.
func in(hours int) int64 { return time.Now().Add(time.Duration(hours) * time.Hour).UnixMilli() }

// claudeLogin is a login of claude that ends in some hours.
func claudeLogin(name string, hours int) string {
	return mustJSON(map[string]any{"claudeAiOauth": map[string]any{"accessToken": "sk-ant-oat01-" + name, "refreshToken": "sk-ant-ort01-" + name,
		"expiresAt": in(hours), "scopes": []string{"user:inference"}, "subscriptionType": "max"}})
}

func readable(claims map[string]any) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"none"}`)) + "." + enc([]byte(mustJSON(claims))) + "." + enc([]byte("signature"))
}

// codexLogin is a login of codex that ends in some hours.
func codexLogin(account, name string, hours int) string {
	claims := map[string]any{"iss": "https://auth.invalid", "sub": "user-" + account, "exp": in(hours) / 1000, "jti": name,
		"https://api.openai.com/auth": map[string]any{"chatgpt_account_id": account}}
	return mustJSON(map[string]any{"OPENAI_API_KEY": nil, "auth_mode": "chatgpt", "last_refresh": time.Now().Add(time.Duration(hours) * time.Hour).UTC().Format(time.RFC3339Nano),
		"tokens": map[string]any{"id_token": readable(claims), "access_token": readable(claims), "refresh_token": "refresh-token-" + name, "account_id": account}})
}

// form is what the tests need to know about one agent's login.
type form struct {
	agent, file string
	login       func(name string, hours int) string
}

var forms = []form{
	{"claude", ".claude/.credentials.json", claudeLogin},
	{"codex", ".codex/auth.json", func(name string, hours int) string { return codexLogin("acc", name, hours) }},
}

// live makes private homes in which an agent has the user's login.
func (u *user) live(f form, names ...string) []string {
	u.t.Helper()
	var out []string
	for _, n := range names {
		o := u.options(f.agent)
		o.Home = u.home(n)
		u.prepare(o)
		out = append(out, o.Home)
	}
	return out
}

func (u *user) giveBack(f form, homes ...string) Returned {
	u.t.Helper()
	r, err := Return(context.Background(), ReturnOptions{Agent: f.agent, RealHome: u.real, Env: u.env, Homes: homes})
	u.must(err)
	return r
}

// carries reports whether a login file is that of a name.
func carries(text, name string) bool {
	return strings.Contains(text, "-"+name+`"`)
}

// A login that was refreshed in one home comes to the user and to the other homes; what else the user's file holds stays.
func TestReturn(t *testing.T) {
	for _, f := range forms {
		t.Run(f.agent, func(t *testing.T) {
			u := newUser(t)
			own := object{}
			u.must(json.Unmarshal([]byte(f.login("old", 1)), &own))
			own.set("unknown", map[string]any{"kept": 12345678901234567})
			real := filepath.Join(u.real, f.file)
			u.has(real+".elsewhere", mustJSON(own))
			u.must(os.Symlink(real+".elsewhere", real)) // as a manager of dotfiles keeps it
			homes := u.live(f, "a", "b", "c")
			u.must(os.Remove(homes[2] + "/" + f.file)) // logged out in there
			if r := u.giveBack(f, homes...); len(r.Taken)+len(r.Pushed)+len(r.Refused) > 0 {
				t.Fatalf("nothing was refreshed, and yet %+v", r)
			}
			u.has(homes[0]+"/"+f.file, f.login("new", 9))
			r := u.giveBack(f, homes...)
			if !slices.Equal(r.Taken, homes[:1]) || !slices.Equal(r.Pushed, homes[1:2]) || len(r.Refused) > 0 {
				t.Errorf("returned %+v", r)
			}
			for _, p := range []string{real, homes[0] + "/" + f.file, homes[1] + "/" + f.file} {
				if !carries(u.read(p), "new") {
					t.Errorf("%s has %s", p, u.read(p))
				}
			}
			if _, err := os.Lstat(homes[2] + "/" + f.file); !os.IsNotExist(err) {
				t.Errorf("a home without a login was given one: %v", err)
			}
			if got := string(u.object(real)["unknown"]); got != `{"kept":12345678901234567}` {
				t.Errorf("what is not a login's became %s", got)
			}
			if info, err := os.Lstat(real); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link is gone: %v %v", info, err)
			}
			// And the other way: the user's own agent refreshes.
			u.has(real+".elsewhere", f.login("own", 20))
			r = u.giveBack(f, homes...)
			if len(r.Taken) > 0 || !slices.Equal(r.Pushed, homes[:2]) || !carries(u.read(homes[0]+"/"+f.file), "own") {
				t.Errorf("returned %+v", r)
			}
		})
	}
}

// What a home claims is refused when a refresh does not do such a thing; the user's file stays as it is, byte for byte.
func TestReturnRefuses(t *testing.T) {
	edit := func(base func(string, int) string, name string, hours int, change func(e object)) string {
		doc := object{}
		if err := json.Unmarshal([]byte(base(name, hours)), &doc); err != nil {
			panic(err)
		}
		key := "claudeAiOauth"
		if _, is := doc["tokens"]; is {
			key = "tokens"
		}
		e := doc.child(key)
		change(e)
		doc.set(key, e)
		return mustJSON(doc)
	}
	put := func(k string, v any) func(object) { return func(e object) { e.set(k, v) } }
	claude, codex := forms[0], forms[1]
	for _, tt := range []struct {
		name string
		f    form
		text string
		why  string // part of the refusal; empty = just not taken
	}{
		{"older", claude, claudeLogin("x", 1), ""},
		{"no JSON", claude, `{"claudeAiOauth":`, "unexpected end"},
		{"a list", claude, `[]`, "cannot unmarshal"},
		{"null", claude, `null`, "null"},
		{"empty", claude, ``, "unexpected end"},
		{"nested deep", claude, strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000), ""},
		{"too large", claude, `{"claudeAiOauth":{"accessToken":"` + strings.Repeat("x", maxLogin) + `"}}`, "too large"},
		{"without an entry", claude, `{}`, "missing"},
		{"for ever", claude, claudeLogin("x", 24*40), "good for longer"},
		{"same token, other end", claude, edit(claudeLogin, "old", 9, func(object) {}), "same token"},
		{"another kind of token", claude, edit(claudeLogin, "x", 9, put("accessToken", "sk-ant-api03-abcdefgh")), "another form"},
		{"a control character", claude, edit(claudeLogin, "x", 9, put("refreshToken", "sk-ant-ort01-a\nb")), "no token"},
		{"a blank", claude, edit(claudeLogin, "x", 9, put("accessToken", "sk-ant-oat01- b")), "no token"},
		{"other letters", claude, edit(claudeLogin, "x", 9, put("accessToken", "sk-ant-oat01-é")), "no token"},
		{"a very long token", claude, edit(claudeLogin, "x", 9, put("accessToken", "sk-ant-oat01-"+strings.Repeat("a", maxToken))), "no token"},
		{"a number for a token", claude, edit(claudeLogin, "x", 9, put("accessToken", 5)), "no text"},
		{"text for an end", claude, edit(claudeLogin, "x", 9, put("expiresAt", "soon")), "no time"},
		{"a fraction for an end", claude, edit(claudeLogin, "x", 9, put("expiresAt", 1.5)), "no time"},
		{"other scopes", claude, edit(claudeLogin, "x", 9, put("scopes", []string{"org:admin"})), "scopes"},
		{"another account", codex, codexLogin("mallory", "x", 20), "another account"},
		{"another account, dressed", codex, edit(func(n string, h int) string { return codexLogin("mallory", n, h) }, "x", 20, put("account_id", "acc")), "another account"},
		{"an opaque token", codex, edit(forms[1].login, "x", 20, put("access_token", "opaque-token-of-some-kind")), "another form"},
	} {
		t.Run(tt.f.agent+" "+tt.name, func(t *testing.T) {
			u := newUser(t)
			real := filepath.Join(u.real, tt.f.file)
			u.has(real, tt.f.login("old", 2))
			homes := u.live(tt.f, "a", "b")
			before := u.read(real)
			u.has(homes[0]+"/"+tt.f.file, tt.text)
			r := u.giveBack(tt.f, homes...)
			if u.read(real) != before || len(r.Taken) > 0 {
				t.Errorf("taken: %+v\n%s", r, u.read(real))
			}
			if tt.why != "" && (len(r.Refused) != 1 || !strings.Contains(r.Refused[0].Why, tt.why) || r.Refused[0].Home != homes[0]) {
				t.Errorf("refused %+v, want %q", r.Refused, tt.why)
			}
			if got := u.read(homes[1] + "/" + tt.f.file); !carries(got, "old") {
				t.Errorf("the other home has %s", got)
			}
			if got := u.read(homes[0] + "/" + tt.f.file); !carries(got, "old") {
				t.Errorf("the home was not mended: %.200s", got)
			}
		})
	}
}

// A home that was made under another login of the user's gives nothing back.
func TestReturnOfAnotherAccount(t *testing.T) {
	f := forms[0]
	u := newUser(t)
	state := func(id string) string {
		return mustJSON(map[string]any{"oauthAccount": map[string]any{"accountUuid": id}})
	}
	u.has(".claude.json", state("first"))
	u.has(f.file, claudeLogin("old", 2))
	homes := u.live(f, "a")
	u.has(".claude.json", state("second"))
	u.has(f.file, claudeLogin("second", 3))
	u.has(homes[0]+"/"+f.file, claudeLogin("x", 9))
	r := u.giveBack(f, homes...)
	if len(r.Taken) > 0 || len(r.Refused) != 1 || !carries(u.read(u.real+"/"+f.file), "second") || !carries(u.read(homes[0]+"/"+f.file), "second") {
		t.Errorf("returned %+v", r)
	}
}

// Nothing that a cage can put in the place of a login is followed, waited for or believed.
func TestReturnAmongTraps(t *testing.T) {
	f := forms[0]
	for name, trap := range map[string]func(u *user, file string){
		"link":          func(u *user, file string) { u.must(os.Symlink(u.root+"/outside", file)) },
		"link to login": func(u *user, file string) { u.must(os.Symlink(u.home("b")+"/"+f.file, file)) },
		"second name":   func(u *user, file string) { u.must(os.Link(u.root+"/outside", file)) },
		"pipe":          func(u *user, file string) { u.must(syscall.Mkfifo(file, 0o600)) },
		"folder":        func(u *user, file string) { u.must(os.Mkdir(file, 0o700)) },
		"link above": func(u *user, file string) {
			u.must(os.RemoveAll(filepath.Dir(file)))
			u.must(os.MkdirAll(u.root+"/dir", 0o700))
			u.has(u.root+"/dir/.credentials.json", claudeLogin("planted", 9))
			u.must(os.Symlink(u.root+"/dir", filepath.Dir(file)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.has(f.file, claudeLogin("old", 2))
			u.has(u.root+"/outside", claudeLogin("planted", 9))
			homes := u.live(f, "a", "b")
			file := homes[0] + "/" + f.file
			u.must(os.Remove(file))
			trap(u, file)
			r := u.giveBack(f, homes...)
			if len(r.Taken) > 0 || len(r.Refused) == 0 || !carries(u.read(u.real+"/"+f.file), "old") {
				t.Errorf("returned %+v", r)
			}
			for _, p := range []string{u.root + "/outside", u.root + "/dir/.credentials.json"} {
				if b, err := os.ReadFile(p); err == nil && !carries(string(b), "planted") {
					t.Errorf("%s was written: %s", p, b)
				}
			}
		})
	}
}

// Three agents refresh at the same time, in three homes, while each home is looked after by a goroutine of its own: the
// newest wins everywhere, and no file is ever half written.
func TestThreeRefreshAtOnce(t *testing.T) {
	for _, f := range forms {
		t.Run(f.agent, func(t *testing.T) {
			u := newUser(t)
			u.has(f.file, f.login("start", 1))
			homes := u.live(f, "a", "b", "c")
			var wg sync.WaitGroup
			for i, h := range homes {
				wg.Go(func() {
					for round := range 20 {
						name := fmt.Sprintf("r%dx%d", round, i)
						// As the agents do it: a new file in the place of the old one.
						temp := h + "/fresh"
						if err := os.WriteFile(temp, []byte(f.login(name, 2+round*3+i)), 0o600); err != nil {
							t.Error(err)
						}
						if err := os.Rename(temp, h+"/"+f.file); err != nil {
							t.Error(err)
						}
						if _, err := Return(context.Background(), ReturnOptions{Agent: f.agent, RealHome: u.real, Env: u.env, Homes: homes}); err != nil {
							t.Error(err)
						}
						if _, err := parseObject([]byte(u.read(u.real + "/" + f.file))); err != nil {
							t.Errorf("half a file: %v", err)
						}
					}
				})
			}
			wg.Wait()
			u.giveBack(f, homes...)
			for _, p := range append([]string{u.real}, homes...) {
				if got := u.read(p + "/" + f.file); !carries(got, "r19x2") {
					t.Errorf("%s has %.300s", p, got)
				}
			}
		})
	}
}

// While a cage changes its home as fast as it can, nothing of outside gets in, nothing of ours gets out, and every call
// ends.
func TestReturnAgainstARacer(t *testing.T) {
	f := forms[0]
	u := newUser(t)
	u.has(f.file, claudeLogin("old", 2))
	u.must(os.MkdirAll(u.root+"/outside", 0o700))
	u.has(u.root+"/outside/.credentials.json", claudeLogin("planted", 9))
	homes := u.live(f, "a")
	dir, aside := homes[0]+"/.claude", homes[0]+"/aside"
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			// Errors are the other side's moves.
			_ = os.Rename(dir, aside)
			_ = os.Symlink(u.root+"/outside", dir)
			_ = os.Remove(dir)
			_ = os.Rename(aside, dir)
			_ = os.Remove(dir + "/.credentials.json")
			switch i % 3 {
			case 0:
				_ = syscall.Mkfifo(dir+"/.credentials.json", 0o600)
			case 1:
				_ = os.Symlink(u.root+"/outside/.credentials.json", dir+"/.credentials.json")
			}
		}
	})
	for range 300 {
		if _, err := Return(context.Background(), ReturnOptions{Agent: f.agent, RealHome: u.real, Env: u.env, Homes: homes}); err != nil {
			t.Errorf("an error that is not about the home: %v", err)
		}
	}
	close(stop)
	wg.Wait()
	if got := u.read(u.real + "/" + f.file); !carries(got, "old") {
		t.Errorf("the user's login became %s", got)
	}
	entries, err := os.ReadDir(u.root + "/outside")
	u.must(err)
	if len(entries) != 1 || !carries(u.read(u.root+"/outside/.credentials.json"), "planted") {
		t.Errorf("outside has %v", entries)
	}
}

// Without a login of the user's own, a cage gives none; and with Only it is shared among the homes alone.
func TestReturnToNobody(t *testing.T) {
	f := forms[0]
	u := newUser(t)
	u.has(f.file, claudeLogin("old", 2))
	homes := u.live(f, "a", "b")
	u.has(homes[0]+"/"+f.file, claudeLogin("new", 9))
	r, err := Return(context.Background(), ReturnOptions{Agent: f.agent, RealHome: u.real, Env: u.env, Homes: homes, Only: true})
	u.must(err)
	if !carries(u.read(u.real+"/"+f.file), "old") || !carries(u.read(homes[1]+"/"+f.file), "new") {
		t.Errorf("returned %+v", r)
	}
	u.must(os.Remove(u.real + "/" + f.file))
	if r := u.giveBack(f, homes...); len(r.Taken) > 0 {
		t.Errorf("returned %+v", r)
	}
	if _, err := os.Lstat(u.real + "/" + f.file); !os.IsNotExist(err) {
		t.Errorf("a login out of nowhere: %v", err)
	}
	if r := u.giveBack(f, u.home("gone")); len(r.Taken)+len(r.Refused) > 0 {
		t.Errorf("returned %+v", r)
	}
}

// Law: after any order of refreshes and returns the user has the newest login that was ever made, and so has every home.
func TestNewestWins(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := forms[rapid.IntRange(0, 1).Draw(rt, "agent")]
		u := newUser(t)
		newest := 1
		u.has(f.file, f.login("n1", 1))
		homes := u.live(f, "a", "b", "c")
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			hours := rapid.IntRange(1, 600).Draw(rt, "hours")
			where := rapid.IntRange(-1, 2).Draw(rt, "where")
			p := u.real
			if where >= 0 {
				p = homes[where]
			}
			var have int
			if _, err := fmt.Sscanf(nameIn(u.read(p+"/"+f.file)), "n%d", &have); err != nil {
				rt.Fatal(err)
			}
			if hours <= have {
				continue // an agent refreshes to something later
			}
			u.has(p+"/"+f.file, f.login(fmt.Sprintf("n%d", hours), hours))
			newest = max(newest, hours)
			if rapid.Bool().Draw(rt, "return") {
				u.giveBack(f, homes...)
			}
		}
		u.giveBack(f, homes...)
		for _, p := range append([]string{u.real}, homes...) {
			if got := u.read(p + "/" + f.file); !carries(got, fmt.Sprintf("n%d", newest)) {
				rt.Fatalf("%s has %s, want n%d", p, got, newest)
			}
		}
	})
}

// nameIn is the name of a login of the tests.
func nameIn(text string) string {
	for _, mark := range []string{"sk-ant-ort01-", "refresh-token-"} {
		if _, rest, ok := strings.Cut(text, mark); ok {
			return rest[:strings.IndexByte(rest, '"')]
		}
	}
	return ""
}

// Who holds the lock is alone, also among goroutines of one process.
func TestLockKeepsOthersOut(t *testing.T) {
	path := t.TempDir() + "/lock"
	inside, most := 0, 0
	var seen sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				err := locked(path, func() error {
					seen.Lock()
					inside++
					most = max(most, inside)
					seen.Unlock()
					time.Sleep(100 * time.Microsecond) // a chance for the others
					seen.Lock()
					inside--
					seen.Unlock()
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d were inside at once", most)
	}
}

// The user's own agent may write its login between our look and our step: its word is not lost.
func TestReplaceSeesAnotherHand(t *testing.T) {
	u := newUser(t)
	u.has("login", claudeLogin("theirs", 3))
	x := exchange{form: claude().login, path: u.real + "/login"}
	done, err := x.replace([]byte(claudeLogin("before", 1)), object{})
	if done || err != nil || !carries(u.read(u.real+"/login"), "theirs") {
		t.Errorf("done %v, %v: %s", done, err, u.read(u.real+"/login"))
	}
	if done, err := x.replace([]byte(u.read(u.real+"/login")), object{}); !done || err != nil || u.read(u.real+"/login") != "{}" {
		t.Errorf("done %v, %v", done, err)
	}
}

// Where the person switched the way back off, a login that was refreshed in a home stays there, and only there; and a newer
// one of the user's still comes in.
func TestLoginThatStays(t *testing.T) {
	for _, f := range forms {
		t.Run(f.agent, func(t *testing.T) {
			u := newUser(t)
			own := filepath.Join(u.real, f.file)
			u.has(own, f.login("old", 1))
			o := u.options(f.agent)
			o.CopyBack = false
			u.prepare(o)
			inside := o.Home + "/" + f.file
			if !carries(u.read(inside), "old") {
				t.Fatalf("the home was given %s", u.read(inside))
			}
			u.has(inside, f.login("new", 9))
			u.prepare(o)
			if !carries(u.read(inside), "new") || !carries(u.read(own), "old") {
				t.Errorf("inside %s\noutside %s", u.read(inside), u.read(own))
			}
			u.has(own, f.login("own", 20))
			u.prepare(o)
			if !carries(u.read(inside), "own") || !carries(u.read(own), "own") {
				t.Errorf("after the user's: inside %s\noutside %s", u.read(inside), u.read(own))
			}
		})
	}
}
