package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"golang.org/x/term"

	"termic/internal/api"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/remote"
	"termic/internal/selfcert"
	"termic/internal/verb"
)

// apiFace is the name of the face that a remote verb goes through.
const apiFace = "api"

// maxToken bounds what is read of a token.
const maxToken = 4 << 10

// login takes the token of a Termic elsewhere, asks there whose it is, and writes both down.
func (r *runner) login(ctx context.Context, inv invocation) error {
	dir, err := datadir.Find(r.Getenv)
	if err != nil {
		return err
	}
	to := remote.Remote{Name: inv.text("name"), Fingerprint: inv.text("fingerprint")}
	if to.URL, err = remote.ParseURL(inv.text("url")); err != nil {
		return err
	}
	if to.Fingerprint != "" {
		if to.Fingerprint, err = selfcert.ParsePin(to.Fingerprint); err != nil {
			return err
		}
	}
	if u, perr := url.Parse(to.URL); perr == nil && to.Name == "" {
		to.Name = strings.Map(func(c rune) rune {
			if c == ':' {
				return '-'
			}
			return c
		}, u.Hostname())
	}
	if to.Token, err = r.readToken(to.URL); err != nil {
		return err
	}
	client := remote.New(to)
	defer client.Close()
	raw, err := client.Whose(ctx)
	if err != nil {
		return err
	}
	var whose api.WebLogin
	if err := json.Unmarshal(raw, &whose); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The answer of %s could not be read", to.URL)
	}
	if err := remote.Save(dir, to); err != nil {
		return err
	}
	if r.global.json() {
		return r.printJSON(map[string]any{"name": to.Name, "url": to.URL, "fingerprint": to.Fingerprint, "token": whose.Name, "scope": whose.Scope, "version": whose.Version})
	}
	_, err = fmt.Fprintf(r.Stdout, "Logged in to %s as %s (%s). Use it with --remote %s, such as: termic --remote %s list\n", to.URL, clean(whose.Name), clean(whose.Scope), to.Name, to.Name)
	return err
}

// logout forgets the file of a login, with the token and the pin in it. The other side is not asked: a token cannot revoke itself.
func (r *runner) logout(inv invocation) error {
	dir, err := datadir.Find(r.Getenv)
	if err != nil {
		return err
	}
	was, err := remote.Forget(dir, inv.text("which"))
	if err != nil {
		return err
	}
	if r.global.json() {
		return r.printJSON(map[string]any{"name": was.Name, "url": was.URL, "revoked": false})
	}
	where := clean(was.URL)
	if where == "" {
		where = "the other side"
	}
	_, err = fmt.Fprintf(r.Stdout, "Forgot %s: its token and its pinned key are gone from this machine. The token is still good: revoke it on %s with `termic token revoke`.\n", was.Name, where)
	return err
}

// readToken takes a token from standard input: arguments can be read by others. At a terminal it is asked for, unseen.
func (r *runner) readToken(where string) (string, error) {
	var text string
	if f, ok := r.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(r.Stderr, "Token for %s: ", where)
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(r.Stderr)
		if err != nil {
			return "", fault.Wrap(err, fault.InvalidArgument, "The token could not be read")
		}
		text = string(b)
	} else {
		line, err := bufio.NewReader(io.LimitReader(r.Stdin, maxToken)).ReadString('\n')
		if err != nil && err != io.EOF {
			return "", fault.Wrap(err, fault.InvalidArgument, "The token could not be read from standard input")
		}
		text = line
	}
	if text = strings.TrimSpace(text); text == "" || strings.Trim(text, tokenRunes) != "" {
		return "", fault.New(fault.InvalidArgument, "Standard input holds no token").WithHint("`termic token new NAME --web` makes one, on the machine that runs Termic.")
	}
	return text, nil
}

// callRemote runs a verb on the Termic that --remote names. The current folder and this terminal's task mean nothing there.
func (r *runner) callRemote(ctx context.Context, inv invocation) error {
	if inv.verb.Local || inv.verb.Named == "" {
		return fault.New(fault.Forbidden, "%s is for the owner of a Termic, on its own machine", inv.verb.CLI).
			WithHint("A token reads, writes or decides as its scope says; `termic help %s` says who may.", inv.verb.CLI)
	}
	for _, p := range inv.verb.ParamsOn(face) {
		if _, given := inv.values[p.Name]; given && !p.On(apiFace) && !p.ClientOnly {
			return fault.New(fault.InvalidArgument, "%s cannot be given to a Termic elsewhere", argName(p)).WithHint("It is for its owner to say, or means something on its own machine alone.")
		}
	}
	dir, err := datadir.Find(r.Getenv)
	if err != nil {
		return err
	}
	to, err := remote.Load(dir, r.global.remote)
	if err != nil {
		return err
	}
	if inv.text("prompt") == "-" {
		if inv.values["prompt"], err = r.readPrompt(); err != nil {
			return err
		}
	}
	send := map[string]any{}
	for _, p := range inv.verb.ParamsOn(apiFace) {
		if v, ok := inv.values[p.Name]; ok {
			send[p.Name] = v
		}
	}
	params, err := json.Marshal(send)
	if err != nil {
		return err
	}
	if err := r.confirm(inv); err != nil {
		return err
	}
	client := remote.New(to)
	defer client.Close()
	data, err := client.Call(ctx, inv.verb.Name, params)
	if err != nil {
		return err
	}
	if raised, ok := raisedBy(inv.verb, data); ok {
		r.exit = fault.ExitNeedsInput
		if !r.global.json() {
			return r.printRaised(raised)
		}
		return r.print(inv, data)
	}
	r.exit = outcomeExit(data)
	return r.print(inv, data)
}

// raisedBy tells whether a call waits for an approval. Its answer stands in place of the verb's own result, which would read as if all of
// it had been done, with nothing in it.
func raisedBy(v *verb.Verb, data json.RawMessage) (api.RaisedResult, bool) {
	var raised api.RaisedResult
	waits := v.Effect.Kind == verb.Destroys && json.Unmarshal(data, &raised) == nil && raised.Approval.ID != ""
	return raised, waits
}

func (r *runner) printRaised(raised api.RaisedResult) error {
	a := raised.Approval
	_, err := fmt.Fprintf(r.Stdout, "Nothing was done yet: this waits for approval until %s\n  %s\n  approval  %s\n  job       %s\n",
		clean(a.Expires), clean(a.Summary), clean(a.ID), clean(raised.Job))
	if err == nil {
		_, err = fmt.Fprintf(r.Stderr, "There: `termic approval decide %s approve`. What came of it: `termic --remote %s job wait %s`.\n", clean(a.ID), r.global.remote, clean(raised.Job))
	}
	return err
}
