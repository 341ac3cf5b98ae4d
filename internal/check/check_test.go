package check

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"termic/internal/fault"
)

// verdict is one look and what must come of it.
type verdict struct {
	name   string
	spec   Spec
	target string
	up     bool
	detail string // is part of what it says
}

func judge(t *testing.T, p *Prober, list []verdict) {
	t.Helper()
	for _, v := range list {
		t.Run(v.name, func(t *testing.T) {
			v.spec.Targets = []string{v.target}
			if v.spec.Timeout == 0 {
				v.spec.Timeout = 5 * time.Second
			}
			s, err := v.spec.Check()
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			r := p.Look(t.Context(), s, v.target)
			if r.Up != v.up || !strings.Contains(r.Detail, v.detail) || r.Target != v.target {
				t.Errorf("up %v, %q; want %v, %q", r.Up, r.Detail, v.up, v.detail)
			}
			if took := time.Since(began); took > s.Timeout+3*time.Second || r.Duration > took {
				t.Errorf("it took %s, and says %s", took, r.Duration)
			}
		})
	}
}

func TestHTTP(t *testing.T) {
	var cookies, auths atomic.Int64
	mux := http.NewServeMux()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookies.Add(int64(len(r.Cookies())))
		if r.Header.Get("Authorization") != "" || r.Header.Get("Referer") != "" {
			auths.Add(1)
		}
		mux.ServeHTTP(w, r)
	}))
	defer s.Close()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		_, _ = fmt.Fprint(w, "all is well")
	})
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "all is well", http.StatusBadGateway) })
	mux.HandleFunc("/kept", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	mux.HandleFunc("/hop/{n}", func(w http.ResponseWriter, r *http.Request) {
		next := "/ok"
		if n := r.PathValue("n"); n != "1" {
			next = "/hop/" + map[string]string{"6": "5", "5": "4", "4": "3", "3": "2", "2": "1"}[n]
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		http.Redirect(w, r, next, http.StatusFound)
	})
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://me:word@"+r.Host+"/ok", http.StatusFound)
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) {
		block := strings.Repeat("x", 64<<10)
		for range 64 {
			if _, err := fmt.Fprint(w, block); err != nil {
				return
			}
		}
		_, _ = fmt.Fprint(w, "the end")
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	quick := Spec{Kind: HTTP, Timeout: 200 * time.Millisecond}
	judge(t, New(Options{}), []verdict{
		{"up", Spec{Kind: HTTP}, s.URL + "/ok", true, "200 OK"},
		{"not modified", Spec{Kind: HTTP}, s.URL + "/kept", true, "304"},
		{"text", Spec{Kind: HTTP, Expect: "is well"}, s.URL + "/ok", true, "200 OK"},
		{"no text", Spec{Kind: HTTP, Expect: "on fire"}, s.URL + "/ok", false, "without the expected text"},
		{"text of an error", Spec{Kind: HTTP, Expect: "is well"}, s.URL + "/bad", false, "502 Bad Gateway"},
		{"missing", Spec{Kind: HTTP}, s.URL + "/none", false, "404 Not Found"},
		{"five redirects", Spec{Kind: HTTP}, s.URL + "/hop/5", true, "200 OK"},
		{"six redirects", Spec{Kind: HTTP}, s.URL + "/hop/6", false, "more than 5 times"},
		{"to a password", Spec{Kind: HTTP}, s.URL + "/login", false, "a name and a password"},
		{"to a file", Spec{Kind: HTTP}, s.URL + "/file", false, "no page"},
		{"beyond a MiB", Spec{Kind: HTTP, Expect: "the end"}, s.URL + "/long", false, "first MiB"},
		{"never answers", quick, s.URL + "/slow", false, "no answer within 200ms"},
		{"silent", quick, "http://" + silent(t), false, "no answer within 200ms"},
		{"nobody", Spec{Kind: HTTP}, "http://" + nobody(t), false, "nothing listens there"},
	})
	if cookies.Load() != 0 || auths.Load() != 0 {
		t.Errorf("%d cookies and %d requests with credentials or a referrer were sent", cookies.Load(), auths.Load())
	}
}

func TestTLS(t *testing.T) {
	a := newAuthority(t)
	now := time.Now()
	day := 24 * time.Hour
	good := a.serve("127.0.0.1", now.Add(-day), now.Add(20*day+time.Hour), false)
	judge(t, New(Options{}), []verdict{
		{"valid", Spec{Kind: TLS}, good, true, "valid for 20 days more"},
		{"long enough", Spec{Kind: TLS, MinDays: 20}, good, true, "20 days"},
		{"about to expire", Spec{Kind: TLS, MinDays: 21}, good, false, "20 days more, and 21 are wanted"},
		{"expired", Spec{Kind: TLS}, a.serve("127.0.0.1", now.Add(-9*day), now.Add(-day), false), false, "expired on " + now.Add(-day).Format(time.DateOnly)},
		{"not yet", Spec{Kind: TLS}, a.serve("127.0.0.1", now.Add(day), now.Add(9*day), false), false, "not valid before"},
		{"other name", Spec{Kind: TLS}, a.serve("other.test", now.Add(-day), now.Add(9*day), false), false, "for another name: other.test"},
		{"signs itself", Spec{Kind: TLS}, a.serve("127.0.0.1", now.Add(-day), now.Add(9*day), true), false, "nobody that this machine trusts"},
		{"silent", Spec{Kind: TLS, Timeout: 200 * time.Millisecond}, silent(t), false, "no answer within 200ms"},
		{"nobody", Spec{Kind: TLS}, nobody(t), false, "nothing listens there"},
		{"a page over TLS", Spec{Kind: HTTP}, "https://" + a.serve("other.test", now.Add(-day), now.Add(9*day), false), false, "for another name"},
	})
}

func TestDNS(t *testing.T) {
	at := resolver(t, map[string][]string{"one.test.": {"192.0.2.1"}, "many.test.": {"192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"}, "empty.test.": {}})
	quick := Spec{Kind: DNS, Timeout: 200 * time.Millisecond}
	judge(t, New(Options{}), []verdict{
		{"has one", Spec{Kind: DNS}, "one.test@" + at, true, "has 192.0.2.1"},
		{"has many", Spec{Kind: DNS}, "many.test@" + at, true, "and 1 more"},
		{"expected", Spec{Kind: DNS, ExpectAddr: "2001:DB8:0::2"}, "many.test@" + at, true, "has 2001:db8::2"},
		{"another", Spec{Kind: DNS, ExpectAddr: "192.0.2.9"}, "one.test@" + at, false, "has 192.0.2.1, not 192.0.2.9"},
		{"no address", Spec{Kind: DNS}, "empty.test@" + at, false, "the name has no address"},
		{"no name", Spec{Kind: DNS}, "none.test@" + at, false, "the name has no address"},
		{"no answer", quick, "slow.test@" + at, false, "no answer within 200ms"},
	})
}

func TestTCP(t *testing.T) {
	judge(t, New(Options{}), []verdict{
		{"open", Spec{Kind: TCP}, silent(t), true, "takes connections"},
		{"closed", Spec{Kind: TCP}, nobody(t), false, "nothing listens there"},
	})
}

func TestMetric(t *testing.T) {
	page := `# TYPE jobs gauge
jobs{queue="mail"} 3
jobs{queue="web"} 5
# TYPE took histogram
took_bucket{le="0.5"} 7
took_bucket{le="+Inf"} 9
took_sum 12.5
took_count 9
# TYPE wait summary
wait{quantile="0.99"} 0.25
wait_sum 3
wait_count 4
plain 1e3
odd NaN
`
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, page) })
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>no metrics") })
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, strings.Repeat("# x\n", 1<<18)+"plain 1\n")
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	is := func(op, value string) Spec { return Spec{Kind: Metric, Op: op, Value: value} }
	at := s.URL + "/metrics#"
	judge(t, New(Options{}), []verdict{
		{"below", is("<", "4"), at + `jobs{queue="mail"}`, true, "is 3"},
		{"not below", is("<", "3"), at + `jobs{queue="mail"}`, false, "is 3, and should be < 3"},
		{"at most", is("<=", "3"), at + `jobs{ queue = "mail" , }`, true, "is 3"},
		{"above", is(">", "999.5"), at + "plain", true, "is 1000"},
		{"at least", is(">=", "1001"), at + "plain", false, "should be >= 1001"},
		{"equal", is("==", "12.5"), at + "took_sum", true, "is 12.5"},
		{"not equal", is("!=", "9"), at + "took_count", false, "is 9"},
		{"of a bucket", is("==", "7"), at + `took_bucket{le="0.5"}`, true, "is 7"},
		{"of a quantile", is("<", "1"), at + `wait{quantile="0.99"}`, true, "is 0.25"},
		{"no number", is("<", "1"), at + "odd", false, "is NaN"},
		{"several", is("<", "9"), at + "jobs", false, "2 series"},
		{"no such label", is("<", "9"), at + `jobs{queue="none"}`, false, "no such metric"},
		{"none", is("<", "9"), at + "nothing", false, "no such metric"},
		{"no metrics", is("<", "9"), s.URL + "/text#jobs", false, "not in the text format"},
		{"too long", is("<", "9"), s.URL + "/long#plain", false, "longer than 1 MiB"},
		{"missing", is("<", "9"), s.URL + "/none#jobs", false, "404"},
	})
}

func TestCommand(t *testing.T) {
	p := New(Options{Dir: t.TempDir(), Environ: func(context.Context) []string { return []string{"PATH=/usr/bin:/bin", "GREETING=hello"} }})
	judge(t, p, []verdict{
		{"ends with 0", Spec{Kind: Command}, "true", true, "ended with 0"},
		{"says", Spec{Kind: Command}, `sh -c 'echo one; echo "$GREETING two"'`, true, "hello two"},
		{"fails", Spec{Kind: Command}, `sh -c "echo no >&2; exit 3"`, false, "ended with 3: no"},
		{"no variables", Spec{Kind: Command}, `printf %s '$GREETING'`, true, "$GREETING"},
		{"a signal", Spec{Kind: Command}, `sh -c 'kill -9 $$'`, false, "signal"},
		{"too long", Spec{Kind: Command, Timeout: 200 * time.Millisecond}, "sleep 30", false, "did not end within 200ms"},
		{"none", Spec{Kind: Command}, "no-such-program-here", false, "was not found"},
	})
}

// TestRefusedWhereverItLeads: an address that may not be reached is not, by its number, by a name, or by a redirect.
func TestRefusedWhereverItLeads(t *testing.T) {
	var hits atomic.Int64
	own := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer own.Close()
	host := strings.TrimPrefix(own.URL, "http://")
	port := netip.MustParseAddrPort(host).Port()
	lead := httptest.NewServer(http.RedirectHandler(own.URL, http.StatusFound))
	defer lead.Close()
	p := New(Options{Refused: func(a netip.AddrPort) string {
		if a.Port() == port {
			return "a port of its own"
		}
		return ""
	}})
	judge(t, p, []verdict{
		{"its number", Spec{Kind: TCP}, host, false, "not looked at: a port of its own"},
		{"a name", Spec{Kind: TCP}, fmt.Sprintf("localhost:%d", port), false, "not looked at"},
		{"a page", Spec{Kind: HTTP}, own.URL, false, "not looked at"},
		{"a redirect", Spec{Kind: HTTP}, lead.URL, false, "not looked at"},
		{"TLS", Spec{Kind: TLS}, host, false, "not looked at"},
		{"metrics", Spec{Kind: Metric, Op: "<", Value: "1"}, own.URL + "#x", false, "not looked at"},
		{"a resolver", Spec{Kind: DNS}, "one.test@" + host, false, "not looked at"},
	})
	if hits.Load() != 0 {
		t.Errorf("%d requests arrived", hits.Load())
	}
}

func TestSpecIsRefusedByName(t *testing.T) {
	ok := map[Kind]string{HTTP: "http://a.test", TLS: "a.test", DNS: "a.test", TCP: "a.test:1", Metric: "http://a.test#m", Command: "true"}
	for kind, target := range ok {
		base := Spec{Kind: kind, Targets: []string{target}}
		if kind == Metric {
			base.Op, base.Value = "<", "1"
		}
		if _, err := base.Check(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for name, set := range map[string]func(*Spec){"expect": func(s *Spec) { s.Expect = "x" }, "minDays": func(s *Spec) { s.MinDays = 3 },
			"expectAddr": func(s *Spec) { s.ExpectAddr = "192.0.2.1" }, "op": func(s *Spec) { s.Op = "<" }, "value": func(s *Spec) { s.Value = "1" }} {
			own := map[string]Kind{"expect": HTTP, "minDays": TLS, "expectAddr": DNS, "op": Metric, "value": Metric}[name]
			s := base
			set(&s)
			_, err := s.Check()
			if own == kind && err != nil || own != kind && (err == nil || fault.From(err).Data["param"] != name) {
				t.Errorf("%s of %s: %v", name, kind, err)
			}
		}
	}
	for _, s := range []Spec{
		{Kind: "ping", Targets: []string{"a.test"}}, {Kind: TCP}, {Kind: TCP, Targets: []string{"a.test"}}, {Kind: TCP, Targets: []string{"a.test:0"}},
		{Kind: TCP, Targets: []string{"a.test:1", "a.test:1"}}, {Kind: TCP, Targets: make([]string, MaxTargets+1)},
		{Kind: TCP, Targets: []string{"a.test:1"}, Interval: time.Second}, {Kind: TCP, Targets: []string{"a.test:1"}, Interval: 25 * time.Hour},
		{Kind: TCP, Targets: []string{"a.test:1"}, Timeout: 2 * time.Minute}, {Kind: TCP, Targets: []string{"a.test:1"}, Retries: 11},
		{Kind: HTTP, Targets: []string{"http://me:word@a.test"}}, {Kind: HTTP, Targets: []string{"ftp://a.test"}}, {Kind: HTTP, Targets: []string{"a.test"}},
		{Kind: HTTP, Targets: []string{"http://a.test/" + strings.Repeat("x", MaxTarget)}},
		{Kind: DNS, Targets: []string{"a.test@b.test"}}, {Kind: DNS, Targets: []string{"http://a.test"}}, {Kind: DNS, Targets: []string{"a.test"}, ExpectAddr: "a"},
		{Kind: TLS, Targets: []string{"a:b:c"}}, {Kind: TLS, Targets: []string{"https://a.test"}}, {Kind: TLS, Targets: []string{"a.test"}, MinDays: -1},
		{Kind: Metric, Targets: []string{"http://a.test#m"}, Op: "<"}, {Kind: Metric, Targets: []string{"http://a.test#m"}, Value: "1"},
		{Kind: Metric, Targets: []string{"http://a.test#m"}, Op: "=~", Value: "1"}, {Kind: Metric, Targets: []string{"http://a.test#m"}, Op: "<", Value: "x"},
		{Kind: Metric, Targets: []string{"http://a.test"}, Op: "<", Value: "1"}, {Kind: Metric, Targets: []string{"http://a.test#m{a=b}"}, Op: "<", Value: "1"},
		{Kind: Metric, Targets: []string{`http://a.test#m{a="b"`}, Op: "<", Value: "1"},
		{Kind: Command, Targets: []string{"a | b"}}, {Kind: Command, Targets: []string{"echo $HOME"}}, {Kind: Command, Targets: []string{"echo $(id)"}},
		{Kind: Command, Targets: []string{"   "}}, {Kind: Command, Targets: []string{`echo "a`}},
	} {
		if _, err := s.Check(); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func FuzzTargets(f *testing.F) {
	for _, s := range []string{"http://a.test#m{a=\"b\"}", "[::1]:443", "a.test@[::1]:53", `sh -c "a b" 'c'`, "http://a@b", "a\\ b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		for _, k := range Kinds() {
			s := Spec{Kind: k, Targets: []string{target}}
			if k == Metric {
				s.Op, s.Value = "<", "1"
			}
			if _, err := s.Check(); err == nil && (k == HTTP || k == Metric) {
				if u, err := url.Parse(target); err == nil && u.User != nil {
					t.Errorf("%q was taken, which holds a user", target)
				}
			}
		}
		l := line(target)
		if len(l) > maxDetail || !utf8.ValidString(l) || strings.ContainsAny(l, "\n\r\x1b\x00\u202e") {
			t.Errorf("%q became %q", target, l)
		}
	})
}

// TestTriedTellsWhereItWas: also of what did not answer, and of all that a redirect led to.
func TestTriedTellsWhereItWas(t *testing.T) {
	closed := netip.MustParseAddrPort(nobody(t))
	lead := httptest.NewServer(http.RedirectHandler("http://"+closed.String(), http.StatusFound))
	defer lead.Close()
	from := netip.MustParseAddrPort(strings.TrimPrefix(lead.URL, "http://"))
	s, err := Spec{Kind: HTTP, Targets: []string{lead.URL}}.Check()
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{}).Look(t.Context(), s, lead.URL)
	if want := []netip.AddrPort{from, closed}; r.Up || fmt.Sprint(r.Tried) != fmt.Sprint(want) || r.Addr != closed.Addr() {
		t.Errorf("%v, tried %v and has %v; want %v", r.Up, r.Tried, r.Addr, want)
	}
}
