package proxy

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a refusal, by which programs tell it from an answer of the host.
const (
	HeaderSandbox = "X-Termic-Sandbox"
	HeaderHost    = "X-Termic-Sandbox-Host"
	blockedByList = "blocked-by-allowlist"
)

// User is the name that goes with Options.Auth.
const User = "termic"

const tooMany = "HTTP/1.1 503 Too many connections through the Termic sandbox\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// refuse says no in Enforce, in a way that a person, an agent and a program each understand.
func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, way route, no *objection) {
	p.tell(r.Method, way, Blocked, no.reason, no.detail)
	if no.reason == BadHost {
		p.answer(w, r, http.StatusBadRequest, "Refused by the Termic sandbox: "+no.detail, blockedByList, way.target.host,
			"Termic's sandbox cannot judge this request, so it is refused.\n\n"+sentence(no.detail)+
				"\nWrite the host's name, or an IPv4 address as four decimal numbers.\n")
		return
	}
	p.answer(w, r, http.StatusForbidden, "Blocked by the Termic sandbox: "+no.detail, blockedByList, way.target.host, refusalText(way, no))
}

// refusalText is the body of a 403.
func refusalText(way route, no *objection) string {
	t := way.target
	rule := t.host
	if strings.Contains(rule, ":") {
		rule = "[" + rule + "]"
	}
	if t.port != 443 && t.port != 80 {
		rule += ":" + strconv.Itoa(int(t.port))
	}
	text := fmt.Sprintf("Termic's sandbox blocked %s.\n\n%s\n", t.authority(), sentence(no.detail))
	switch no.reason {
	case OwnPort:
		return text + "No rule can allow that: it would hand the controls of Termic to the task.\n"
	case RefusedAddress:
		return text + "A netgroup with ! in the hosts of the task, its project or its agent takes that address out, and no rule can allow it.\n"
	case PrivateAddress:
		rule += "+private"
	}
	return text + "The network itself works; trying again or another way round will not help.\n" +
		"A person can allow it in Termic: open this task's shield, find the host under Refused and choose Allow,\n" +
		"or add this rule to the hosts of the task, its project or its agent:\n\n    " + rule + "\n"
}

// malformed answers a request that names no host in a form that can be judged.
func (p *Proxy) malformed(w http.ResponseWriter, r *http.Request, t target, wrong string) {
	v := Blocked
	if p.o.Mode == Record {
		v = Failed // nothing could have gone anywhere
	}
	p.tell(r.Method, route{target: t}, v, BadHost, wrong)
	p.answer(w, r, http.StatusBadRequest, "Bad request to the Termic sandbox's proxy: "+wrong, "", "",
		"Termic's sandbox cannot read where this request goes.\n\n"+sentence(wrong))
}

// unreachable answers for a host that may be reached and could not be.
func (p *Proxy) unreachable(w http.ResponseWriter, r *http.Request, way route, no *objection, err error) {
	why := p.tellFailed(r.Method, way, no, err)
	text := clause(way, why, err)
	p.answer(w, r, http.StatusBadGateway, "The Termic sandbox's proxy failed: "+text, "", "",
		"Termic's sandbox did not refuse this request.\n\n"+sentence(text))
}

// clause says why a host could not be reached, without the resolver's own address or anything else of this machine.
func clause(way route, why Reason, err error) string {
	t := way.target
	var timed interface{ Timeout() bool }
	switch {
	case errors.As(err, &timed) && timed.Timeout(): // of a context, a deadline or a resolver
		return fmt.Sprintf("%s did not answer within %d seconds", t.authority(), int(connectTime/time.Second))
	case why == Unresolved:
		return fmt.Sprintf("%s has no address", t.host)
	case way.upstream != nil:
		return fmt.Sprintf("%s could not be reached through the user's own proxy", t.authority())
	}
	return fmt.Sprintf("%s could not be reached", t.authority())
}

// sentence makes one of a clause; a host at its front keeps its letters.
func sentence(clause string) string {
	if word, _, _ := strings.Cut(clause, " "); strings.ContainsAny(word, ".:") {
		return clause + ".\n"
	}
	return strings.ToUpper(clause[:1]) + clause[1:] + ".\n"
}

// authentic checks the password where one is asked for.
func (p *Proxy) authentic(r *http.Request) bool {
	if p.o.Auth.Empty() {
		return true
	}
	scheme, code, _ := strings.Cut(r.Header.Get("Proxy-Authorization"), " ")
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(code))
	if err != nil || !strings.EqualFold(scheme, "Basic") {
		return false
	}
	user, password, _ := strings.Cut(string(plain), ":")
	return p.o.Auth.Equal(password) && user == User
}

func (p *Proxy) askPassword(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Proxy-Authenticate", `Basic realm="Termic sandbox"`)
	p.answer(w, r, http.StatusProxyAuthRequired, "This proxy belongs to one task of Termic", "", "",
		"This proxy belongs to one task of Termic and serves that task alone.\n")
}

// answer writes a refusal or a failure. For a CONNECT most programs show the reason phrase and nothing else, so it is
// written by hand and says it all; net/http has no way to set one.
func (p *Proxy) answer(w http.ResponseWriter, r *http.Request, code int, phrase, sandbox, host, body string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if sandbox != "" {
		h.Set(HeaderSandbox, sandbox)
		h.Set(HeaderHost, host)
	}
	if r.Method != http.MethodConnect {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Connection", "close")
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.o.Log.Debug("take a connection over", "err", err)
		return
	}
	defer conn.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", code, phrase)
	_ = h.Write(&b)
	b.WriteString("\r\n" + body)
	_ = conn.SetDeadline(time.Now().Add(headerTime))
	if _, err := io.WriteString(conn, b.String()); err == nil {
		farewell(conn)
	}
}
