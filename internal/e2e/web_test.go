package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/app"
	"termic/internal/api"
	"termic/internal/selfcert"
)

// browserFace is the browser face of a rig, as its clients know it.
type browserFace struct {
	r    *rig
	url  string
	pin  string
	http *http.Client
}

// web starts the browser face on loopback, and reads what a person would.
func (r *rig) web(o app.WebOptions) browserFace {
	r.t.Helper()
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	var out bytes.Buffer
	must(r.t, r.app.OpenWeb(context.Background(), app.Options{Version: "test", Web: o, LogTo: r.log}, &out))
	f := browserFace{r: r}
	for line := range strings.Lines(out.String()) {
		if v, ok := strings.CutPrefix(line, "termic: web "); ok {
			f.url = strings.TrimSpace(v)
		}
		if v, ok := strings.CutPrefix(line, "termic: fingerprint "); ok {
			f.pin = strings.TrimSpace(v)
		}
	}
	jar, err := cookiejar.New(nil)
	must(r.t, err)
	f.http = &http.Client{Transport: &http.Transport{TLSClientConfig: selfcert.Pinned(f.pin)}, Jar: jar}
	r.t.Cleanup(f.http.CloseIdleConnections)
	return f
}

// webToken makes a token of the browser face.
func (r *rig) webToken(name, scope string, projects ...string) string {
	r.t.Helper()
	p := map[string]any{"name": name, "scope": scope, "web": true}
	if len(projects) > 0 {
		p["projects"] = projects
	}
	made := call[api.TokenResult](r, "token_new", p)
	if made.Value == "" || made.Token.Face != api.TokenWeb || made.Token.File != "" {
		r.t.Fatalf("made: %+v", made.Token)
	}
	r.secrets.plant("the web token "+name, made.Value)
	return made.Value
}

// webAnswer is what came back.
type webAnswer struct {
	status int
	body   string
	header http.Header
}

// ask sends a request with headers NAME: VALUE.
func (f browserFace) ask(method, path, body string, headers ...string) webAnswer {
	f.r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, f.url+path, strings.NewReader(body))
	must(f.r.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Add(name, value)
	}
	res, err := f.http.Do(req)
	must(f.r.t, err)
	defer func() { _ = res.Body.Close() }() // read to its end below
	text, err := io.ReadAll(res.Body)
	must(f.r.t, err)
	return webAnswer{res.StatusCode, string(text), res.Header}
}

func bearer(token string) string { return "Authorization: Bearer " + token }

// login logs a page in and returns the header that it sends from then on; the cookie is in the jar.
func (f browserFace) login(token string) string {
	f.r.t.Helper()
	a := f.ask("POST", "/api/v1/session", `{"token":"`+token+`"}`, "Origin: "+f.url)
	var in api.WebLogin
	if a.status != 200 || json.Unmarshal([]byte(a.body), &in) != nil || in.Key == "" {
		f.r.t.Fatalf("login: %d %s", a.status, a.body)
	}
	f.r.secrets.plant("the key of a page", in.Key)
	_, cookie, _ := strings.Cut(a.header.Get("Set-Cookie"), "=")
	cookie, _, _ = strings.Cut(cookie, ";")
	f.r.secrets.plant("the cookie of a page", cookie)
	return "X-Termic-Key: " + in.Key
}

// TestWebCredentials is every credential on every way in: each opens its own and nothing else, and what opens nothing answers
// with the same bare 401.
func TestWebCredentials(t *testing.T) {
	r := newRig(t)
	o, f := r.outside(), r.web(app.WebOptions{})
	r.addProject()
	named := r.named("port", "operator")
	value := r.webToken("page", "operator")
	other := r.webToken("other", "readonly")
	key := f.login(value)
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"web token":                      {[]string{bearer(value)}, 200},
		"cookie and key":                 {[]string{key}, 200},
		"cookie alone":                   {nil, 401},
		"cookie and another key":         {[]string{"X-Termic-Key: " + strings.Repeat("0", 64)}, 401},
		"cookie and a key twice":         {[]string{key, key}, 401},
		"a wrong bearer beside a cookie": {[]string{key, bearer("nonsense")}, 401},
		"no bearer in the header":        {[]string{key, "Authorization: Basic eDp5"}, 401},
		"token of the port's file":       {[]string{bearer(o.token)}, 401},
		"named token of the port":        {[]string{bearer(named.token)}, 401},
		"empty bearer":                   {[]string{"Authorization: Bearer "}, 401},
		"header of the port":             {[]string{"X-Termic-Token: " + value}, 401},
	} {
		a := f.ask("POST", "/api/v1/project_list", "{}", c.headers...)
		if a.status != c.want {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if c.want == 401 && (a.body != "" || a.header.Get("Www-Authenticate") != "Bearer" || a.header.Get("Content-Type") != "") {
			t.Errorf("%s: a refusal says %q %v", name, a.body, a.header)
		}
	}
	for name, token := range map[string]string{"web token": value, "key": strings.TrimPrefix(key, "X-Termic-Key: ")} {
		if _, err := (outside{t, o.url, token}).tool(t.Context(), "task_list", nil); err == nil || err.Error() != "status 401" {
			t.Errorf("%s on the MCP port: %v", name, err)
		}
	}
	// The key of one page with the cookie of another opens nothing.
	second := r.webClient(f)
	second.login(other)
	if a := second.ask("GET", "/api/v1/session", "", key); a.status != 401 {
		t.Errorf("the key of another page: %d", a.status)
	}
	// Logged out is logged out, for the cookie too.
	if a := f.ask("DELETE", "/api/v1/session", "", key); a.status != 204 {
		t.Errorf("logout: %d", a.status)
	}
	if a := f.ask("GET", "/api/v1/session", "", key); a.status != 401 {
		t.Errorf("after the logout: %d", a.status)
	}
	if strings.Contains(r.log.String(), value) || strings.Contains(r.log.String(), other) {
		t.Error("a token is in the log")
	}
}

// webClient is another browser on the same face.
func (r *rig) webClient(f browserFace) browserFace {
	jar, err := cookiejar.New(nil)
	must(r.t, err)
	f.http = &http.Client{Transport: f.http.Transport, Jar: jar}
	return f
}

// TestWebSameBytes: what the API gives is what the command line prints and the MCP port holds, for reads of every kind, in
// both forms of a request, and for refusals.
func TestWebSameBytes(t *testing.T) {
	r := newRig(t)
	n := r.newTask("Say hello", "osc7501", "#write hello.txt hi <&> there\n#say done")
	f := r.web(app.WebOptions{})
	r.outside()
	o := r.named("port", "readonly")
	value := r.webToken("api", "readonly")
	key := f.login(value)
	for verb, params := range map[string]map[string]any{
		"task_list": {"project": "repo"}, "task_status": {"task": n.Task.ID}, "task_result": {"task": n.Task.ID}, "task_diff": {"task": n.Task.ID, "full": true},
		"task_log": {"task": n.Task.ID, "plain": true}, "task_agents": {}, "prompts": {}, "project_list": {}, "job_list": {"limit": 3}, "job_get": {"job": n.Job},
		"job_events": {"job": n.Job}, "job_log": {"job": n.Job}, "job_wait": {"job": n.Job, "timeoutMs": 5},
	} {
		raw, err := json.Marshal(params)
		must(t, err)
		res, err := o.tool(t.Context(), verb, params)
		must(t, err)
		want, failed := string(res.StructuredContent), 200
		if res.IsError { // the same words, in the form of the command line
			want, failed = `{"error":`+want+`}`, 422
		}
		var query []string
		for k, v := range params {
			query = append(query, fmt.Sprintf("%s=%v", k, v))
		}
		for name, a := range map[string]webAnswer{
			"POST": f.ask("POST", "/api/v1/"+verb, string(raw), bearer(value)), "GET": f.ask("GET", "/api/v1/"+verb+"?"+strings.Join(query, "&"), "", bearer(value)),
			"page": f.ask("POST", "/api/v1/"+verb, string(raw), key, "Origin: "+f.url),
		} {
			if a.status != failed || a.body != want || a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s of %s: %d\n%s\nwant\n%s", name, verb, a.status, a.body, want)
			}
		}
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "task_status", `{"task":"nope"}`, 404, "not_found"}, {"POST", "task_status", `{"tasks":"x"}`, 400, "invalid_argument"},
		{"POST", "task_status", `[]`, 400, "invalid_argument"}, {"GET", "task_status?task=a&task=b", "", 400, "invalid_argument"},
		{"GET", "job_list?limit=many", "", 400, "invalid_argument"}, {"POST", "no_such_verb", "{}", 404, "not_found"},
		{"POST", "settings_get", "{}", 404, "not_found"}, {"POST", "task_rename", `{"task":"x","name":"y"}`, 404, "not_found"}, {"POST", "serve", "{}", 404, "not_found"},
	} {
		a := f.ask(c.method, "/api/v1/"+c.path, c.body, bearer(value))
		var got struct {
			Error struct{ Code, Message string }
		}
		if a.status != c.status || json.Unmarshal([]byte(a.body), &got) != nil || got.Error.Code != c.code || got.Error.Message == "" {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
	rows := call[api.LedgerResult](r, "ledger", map[string]any{"limit": 200}).Rows
	faces := map[string]bool{}
	for _, row := range rows {
		faces[row.Principal+" "+row.Face] = true
	}
	for _, want := range []string{"client:api api", "client:api web", "client:port mcp"} {
		if !faces[want] {
			t.Errorf("the ledger has no %q: %v", want, faces)
		}
	}
}

// TestWebStrangers: what does not come from the face's own page, or calls the machine by another name, is refused before its
// token is looked at, and changes nothing.
func TestWebStrangers(t *testing.T) {
	r := newRig(t)
	r.addProject()
	f := r.web(app.WebOptions{Hosts: []string{"termic.example"}})
	f.url = strings.Replace(f.url, "https://termic.example", f.url, 1)
	value := r.webToken("page", "operator")
	key := f.login(value)
	host := strings.TrimPrefix(f.url, "https://")
	port := host[strings.LastIndex(host, ":"):]
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"own page":              {[]string{key, "Origin: " + f.url, "Sec-Fetch-Site: same-origin"}, 200},
		"localhost":             {[]string{bearer(value), "Host: localhost" + port}, 200},
		"the proxy":             {[]string{bearer(value), "Host: termic.example", "Origin: https://termic.example"}, 200},
		"another page":          {[]string{key, "Origin: https://evil.example"}, 403},
		"no page":               {[]string{key, "Origin: null"}, 403},
		"own page without TLS":  {[]string{key, "Origin: http://" + host}, 403},
		"another port":          {[]string{key, "Origin: https://127.0.0.1:1"}, 403},
		"two origins":           {[]string{key, "Origin: " + f.url, "Origin: " + f.url}, 403},
		"a site of the same":    {[]string{key, "Sec-Fetch-Site: same-site"}, 403},
		"another site":          {[]string{key, "Sec-Fetch-Site: cross-site"}, 403},
		"a rebound name":        {[]string{key, "Host: evil.example" + port}, 403},
		"a rebound origin":      {[]string{key, "Host: evil.example" + port, "Origin: https://evil.example" + port}, 403},
		"the proxy's, else":     {[]string{key, "Host: termic.example", "Origin: " + f.url}, 403},
		"another address":       {[]string{key, "Host: 127.0.0.2" + port}, 403},
		"without a port":        {[]string{key, "Host: 127.0.0.1"}, 403},
		"visited from anywhere": {[]string{key, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 403},
	} {
		a := f.ask("POST", "/api/v1/project_list", "{}", c.headers...)
		if a.status != c.want || c.want == 403 && a.body != "" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		for h := range a.header {
			if strings.HasPrefix(h, "Access-Control") {
				t.Errorf("%s: %s", name, h)
			}
		}
	}
	for _, c := range []struct {
		method, path string
		want         int
	}{{"OPTIONS", "/api/v1/task_list", 405}, {"PUT", "/api/v1/task_list", 405}, {"GET", "/api/v1/task_new", 405}, {"GET", "/api/v1/jobs/x/y", 404}, {"POST", "/", 405},
		{"GET", "/index.html", 404}, {"GET", "/assets/../web.html", 404}, {"GET", "/termic/events", 404}, {"GET", "/.well-known/oauth-protected-resource", 404}} {
		if a := f.ask(c.method, c.path, "", bearer(value)); a.status != c.want || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s: %d %q", c.method, c.path, a.status, a.body)
		}
	}
}

// TestWebRevoked: a wait, a stream of changes, a tail of a job and a login end when the token is narrowed and when it is
// revoked; a bearer then has what the owner said last.
func TestWebRevoked(t *testing.T) {
	r := newRig(t)
	f := r.web(app.WebOptions{})
	n := r.newTask("Waits", "osc7501", "")
	call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "#work 5m"})
	r.until(n.Task.ID, "working", func(d api.TaskDetail) bool { return d.WorkState == api.WorkWorking })
	running := call[api.TaskSendResult](r, "task_send", map[string]any{"task": n.Task.ID, "prompt": "waits for its turn"})
	value := r.webToken("ci", "operator")
	for _, change := range []struct {
		verb   string
		params map[string]any
		after  int
	}{
		{"token_set", map[string]any{"name": "ci", "scope": "readonly"}, 200}, {"token_revoke", map[string]any{"name": "ci"}, 401},
	} {
		key := f.login(value)
		type end struct{ what, text string }
		ends := make(chan end, 3)
		open := make(chan struct{}, 2)
		for _, path := range []string{"/api/v1/changes", "/api/v1/jobs/" + running.Job + "/events"} {
			go func() {
				req, _ := http.NewRequest("GET", f.url+path, nil)
				name, v, _ := strings.Cut(key, ": ")
				req.Header.Set(name, v)
				res, err := f.http.Do(req)
				if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
					t.Errorf("%s: %v %v", path, res, err)
					open <- struct{}{}
					ends <- end{path, ""}
					return
				}
				b := bufio.NewReader(res.Body)
				first, _ := b.ReadString('\n')
				open <- struct{}{}
				rest, _ := io.ReadAll(b)
				_ = res.Body.Close()
				ends <- end{path, first + string(rest)}
			}()
		}
		<-open
		<-open
		go func() {
			a := f.ask("POST", "/api/v1/task_wait", `{"task":"`+n.Task.ID+`","timeoutMs":300000}`, bearer(value))
			ends <- end{"wait", fmt.Sprint(a.status, a.body)}
		}()
		time.Sleep(time.Second) // a read has no row before it ends, so nothing tells that the call is under way
		call[map[string]any](r, change.verb, change.params)
		for range 3 {
			select {
			case e := <-ends:
				if !strings.Contains(e.text, "taken back") {
					t.Errorf("%s: %s ended with %q", change.verb, e.what, e.text)
				}
			case <-time.After(15 * time.Second):
				t.Fatalf("%s: something goes on", change.verb)
			}
		}
		if a := f.ask("GET", "/api/v1/session", "", key); a.status != 401 {
			t.Errorf("%s: the login is still good: %d", change.verb, a.status)
		}
		if a := f.ask("POST", "/api/v1/task_rename", `{"task":"`+n.Task.ID+`","name":"z"}`, bearer(value)); a.status == 200 {
			t.Errorf("%s: it still writes", change.verb)
		}
		if a := f.ask("POST", "/api/v1/task_list", `{}`, bearer(value)); a.status != change.after {
			t.Errorf("%s: the next read: %d", change.verb, a.status)
		}
	}
}

// TestWebOutlastsARestart: the token and the pin are good after a restart, the login is not; the profile holds no value.
func TestWebOutlastsARestart(t *testing.T) {
	r := newRig(t)
	f := r.web(app.WebOptions{})
	value := r.webToken("ci", "readonly")
	key := f.login(value)
	r.stop()
	r.start()
	g := r.web(app.WebOptions{})
	if g.pin != f.pin || g.pin == "" {
		t.Errorf("pins %q and %q", f.pin, g.pin)
	}
	if a := g.ask("POST", "/api/v1/task_list", "", bearer(value)); a.status != 200 {
		t.Errorf("the token: %d", a.status)
	}
	g.http.Jar = f.http.Jar
	if a := g.ask("GET", "/api/v1/session", "", key); a.status != 401 {
		t.Errorf("the login: %d", a.status)
	}
	r.nowhere(value)
	r.nowhere(strings.TrimPrefix(key, "X-Termic-Key: "))
}

// nowhere fails if a secret is in any file of the profile, or in the log.
func (r *rig) nowhere(secret string) {
	r.t.Helper()
	must(r.t, filepath.WalkDir(r.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			r.t.Errorf("%s holds a secret", path)
		}
		return err
	}))
	if strings.Contains(r.log.String(), secret) {
		r.t.Error("the log holds a secret")
	}
}
