package clientsetup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	udiff "github.com/aymanbagabas/go-udiff"
	"github.com/tidwall/gjson"

	"termic/internal/childproc"
	"termic/internal/fault"
)

// claudeTimeout is how long one run of `claude mcp` may take. It reads no network; half a second is usual.
const claudeTimeout = 60 * time.Second

// claudeKind is Claude Code. Each of its processes writes ~/.claude.json, and only its own program knows the lock; so that
// is what writes, and we read.
type claudeKind struct {
	client Client
	shape  shape
}

func claude() kind {
	return &claudeKind{
		client: Client{ID: "claude", Name: "Claude Code", Writer: true, Support: Support{From: "2.1.238", Seen: "2.1.332", On: "2026-11-29", Carries: true,
			Words: "Claude Code speaks it"}},
		// Told 401 for another header than Authorization, it looks for OAuth, and never runs the command again.
		shape: shape{address: "url", command: "headersHelper", bearer: true, fixed: []field{{"type", "http"}, {"timeout", ToolTimeout.Milliseconds()}},
			transport: []string{"type", "url", "headersHelper", "headers", "timeout", "command", "args", "env", "oauth"}},
	}
}

func (k *claudeKind) about() Client { return k.client }

func (k *claudeKind) file(p Place) string { return filepath.Join(k.folder(p), ".claude.json") }

func (k *claudeKind) folder(p Place) string {
	if dir := p.env("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return dir
	}
	return p.Home
}

// entry reads the user's own entry from Claude Code's file.
func (k *claudeKind) entry(p Place) (entry map[string]any, raw string, doc []byte, err error) {
	file := k.file(p)
	doc, missing, err := readFile(file, maxState)
	if err != nil {
		return nil, "", nil, unreadable(file, err)
	}
	if missing || len(strings.TrimSpace(string(doc))) == 0 {
		return nil, "", nil, nil
	}
	if !json.Valid(doc) {
		return nil, "", nil, unreadable(file, &jsonError{json.Unmarshal(doc, new(any))})
	}
	r := gjson.GetBytes(doc, "mcpServers."+Name)
	if !r.Exists() {
		return nil, "", doc, nil
	}
	entry = decodeEntry([]byte(r.Raw))
	if entry == nil {
		return nil, "", nil, unreadable(file, surprise("mcpServers."+Name+" is no object"))
	}
	return entry, r.Raw, doc, nil
}

func (k *claudeKind) look(p Place, e Entry) State {
	st := State{Client: k.client, File: k.file(p), Receipt: p.receipt(k.client.ID), Program: p.find("claude")}
	st.Installed = st.Program != ""
	entry, _, doc, err := k.entry(p)
	if err != nil {
		st.Problem = err
		return st
	}
	if entry != nil {
		st.Registered = true
		v := k.shape.judge(entry, e)
		st.Foreign, st.ByTermic, st.Edits, st.Stale = !v.ours, v.byTermic, v.edits, v.stale
	}
	st.Shadows = k.shadows(p, st.File, doc)
	if s, forbidden := k.forbidden(p, e); forbidden {
		st.Shadows = append(st.Shadows, s)
	}
	return st
}

// shadows finds entries of a narrower scope: local ones in Claude Code's file, and those of projects' .mcp.json. Both win.
func (k *claudeKind) shadows(p Place, file string, doc []byte) []Shadow {
	var out []Shadow
	gjson.GetBytes(doc, "projects").ForEach(func(dir, project gjson.Result) bool {
		if project.Get("mcpServers." + Name).Exists() {
			out = append(out, Shadow{Scope: "local", File: file, Where: dir.String(),
				Words: fmt.Sprintf("In %s an entry of the local scope has the same name and wins; `claude mcp remove %s --scope local` there removes it", dir.String(), Name)})
		}
		project.Get("disabledMcpServers").ForEach(func(_, name gjson.Result) bool {
			if name.String() == Name {
				out = append(out, Shadow{Scope: "disabled", File: file, Where: dir.String(),
					Words: fmt.Sprintf("In %s it is switched off; `/mcp` in a Claude Code there switches it on", dir.String())})
			}
			return name.String() != Name
		})
		return true
	})
	for _, dir := range p.Folders {
		project := filepath.Join(dir, ".mcp.json")
		text, missing, err := readFile(project, maxConfig)
		if err != nil || missing || !json.Valid(text) {
			continue
		}
		if gjson.GetBytes(text, "mcpServers."+Name).Exists() {
			out = append(out, Shadow{Scope: "project", File: project, Where: dir,
				Words: fmt.Sprintf("In %s the project's .mcp.json has an entry of the same name, which wins", dir)})
		}
	}
	return out
}

func (k *claudeKind) plan(_ context.Context, p Place, e Entry) (Plan, error) {
	have, _, _, err := k.entry(p)
	if err == nil {
		err = k.allowed(p, e)
	}
	if err != nil {
		return Plan{}, err
	}
	want, order, err := k.shape.merged(have, e)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Client: k.client, Act: ActAdd, Entry: e, File: k.file(p), Target: k.file(p), entry: want}
	switch v := k.shape.judge(have, e); {
	case have != nil && same(have, want):
		plan.Act = ActNone
		return plan, nil
	case v.ours:
		plan.Act = ActRepair
	case have != nil:
		plan.Act, plan.former = ActReplace, have
		plan.Notes = append(plan.Notes, "The entry that has this name now is replaced; unregistering brings it back")
	}
	if have != nil {
		plan.Runs = append(plan.Runs, claudeRemove)
	}
	plan.Runs = append(plan.Runs, claudeAdd(string(oneLine(ordered(want, order)))))
	plan.Diff = k.diff(plan.File, have, want)
	plan.Notes = append(plan.Notes, "Claude Code writes its file itself; what runs already takes the entry over when it is started again")
	return plan, nil
}

var claudeRemove = []string{"mcp", "remove", Name, "--scope", "user"}

// claudeAdd adds an entry; "-" for the JSON means standard input.
func claudeAdd(entry string) []string {
	return []string{"mcp", "add-json", Name, entry, "--scope", "user"}
}

func oneLine(fields []field) []byte {
	var b strings.Builder
	for i, f := range fields {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		b.Write(encodeJSON(f.key))
		b.WriteString(":")
		b.Write(encodeJSON(f.value))
	}
	return []byte(b.String() + "}")
}

// diff compares two entries, each as it stands in the file.
func (k *claudeKind) diff(file string, have, want map[string]any) string {
	text := func(entry map[string]any) string {
		if entry == nil {
			return ""
		}
		e := &jsonEdit{unit: "  ", newline: "\n"}
		fields, err := k.shape.fields(Entry{})
		if err != nil {
			fields = nil
		}
		order := slices.DeleteFunc(ordered(entry, nil), func(f field) bool {
			return slices.ContainsFunc(fields, func(g field) bool { return f.key == g.key })
		})
		var first []field
		for _, f := range fields {
			if v, ok := entry[f.key]; ok {
				first = append(first, field{f.key, v})
			}
		}
		return string(encodeJSON(Name)) + ": " + string(e.object(append(first, order...), "")) + "\n"
	}
	return udiff.Unified(file, file, text(have), text(want))
}

func (k *claudeKind) planRemove(_ context.Context, p Place, e Entry) (Plan, error) {
	have, _, _, err := k.entry(p)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Client: k.client, Act: ActRemove, Entry: e, File: k.file(p), Target: k.file(p), entry: have}
	if have == nil {
		plan.Act = ActNone
		return plan, nil
	}
	r := p.receipt(k.client.ID)
	if plan.Losses = k.shape.losses(have, r, e); r != nil && r.File == plan.File {
		plan.former = decodeEntry(r.Former)
	}
	plan.Runs = [][]string{claudeRemove}
	if plan.former != nil {
		if s, forbidden := k.forbidden(p, e); forbidden { // by the name, which the former entry has too
			return Plan{}, fault.New(fault.Conflict, "The entry that was there before Termic's could not come back: %s", s.Words).
				WithHint("Nothing was changed. Allow it there first, or remove both with `claude mcp remove %s --scope user`.", Name)
		}
		plan.Runs = append(plan.Runs, claudeAdd("-"))
		plan.Notes = append(plan.Notes, "The entry that was there before Termic's comes back")
	}
	plan.Diff = k.diff(plan.File, have, plan.former)
	return plan, nil
}

func (k *claudeKind) apply(ctx context.Context, p Place, plan Plan) (Receipt, error) {
	program := p.find("claude")
	if program == "" {
		return Receipt{}, fault.New(fault.Unavailable, "Claude Code is not installed, or not in the PATH").
			WithHint("Only its own program may write its file. Install it, then try again.")
	}
	now, _, _, err := k.entry(p)
	if err == nil && (plan.Act != ActRemove || plan.former != nil) {
		err = k.allowed(p, plan.Entry)
	}
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{Client: k.client.ID, Act: plan.Act, File: plan.File, At: time.Now().UTC()}
	if plan.Act == ActRemove {
		if !same(now, plan.entry) {
			return Receipt{}, changedSince(plan.File)
		}
		return r, k.unregister(ctx, p, program, plan)
	}
	if plan.Act == ActReplace && !same(now, plan.former) || plan.Act == ActAdd && now != nil ||
		plan.Act == ActRepair && now != nil && !k.shape.judge(now, plan.Entry).ours {
		return Receipt{}, changedSince(plan.File)
	}
	old := p.receipt(k.client.ID)
	if r.Entry, err = json.Marshal(plan.entry); err != nil {
		return Receipt{}, fault.Wrap(err, fault.Internal, "The entry cannot be recorded")
	}
	if plan.former != nil {
		r.Former = encodeJSON(plan.former)
	} else if plan.Act == ActRepair && old != nil && old.File == plan.File {
		r.Former = old.Former
	}
	if err := p.keepReceipt(r); err != nil { // before anything is removed, so that nothing can be lost with us
		return Receipt{}, err
	}
	if err := k.register(ctx, p, program, plan, now); err != nil {
		return Receipt{}, errors.Join(err, p.putReceiptBack(k.client.ID, old))
	}
	return r, nil
}

func changedSince(file string) error {
	return fault.New(fault.Conflict, "%s was changed, and what would be done now is not what was shown", file).
		WithHint("Nothing was changed. Look at it again.")
}

// register removes the entry that stands there, adds ours, and puts the old one back if that fails.
func (k *claudeKind) register(ctx context.Context, p Place, program string, plan Plan, old map[string]any) error {
	if old != nil {
		if err := k.run(ctx, p, program, claudeRemove, ""); err != nil {
			return err
		}
	}
	err := k.run(ctx, p, program, plan.Runs[len(plan.Runs)-1], "")
	if err == nil {
		err = k.stands(p, plan.entry)
	}
	if err == nil || old == nil {
		return err
	}
	if back := k.putBack(ctx, p, program, old); back != nil {
		return back
	}
	return err
}

// putBack adds an entry that was removed. It may hold secrets, so it goes through a pipe. A call that was cancelled must not
// cost the entry either.
func (k *claudeKind) putBack(ctx context.Context, p Place, program string, old map[string]any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claudeTimeout)
	defer cancel()
	if now, _, _, err := k.entry(p); err == nil && same(now, old) {
		return nil
	}
	text := encodeJSON(old)
	err := k.run(ctx, p, program, claudeAdd("-"), string(text))
	if err == nil {
		err = k.stands(p, old)
	}
	if err == nil {
		return nil
	}
	kept := filepath.Join(p.Records, "claude-entry-"+time.Now().UTC().Format("20060102-150405")+".json")
	if saveErr := writeSecret(kept, text); saveErr != nil {
		return errors.Join(err, saveErr)
	}
	return fault.Wrap(err, fault.Unavailable, "The entry that was there could not be put back; it is in %s", kept).
		WithHint("`claude mcp add-json %s - --scope user < %s` puts it back.", Name, quote(kept))
}

// stands reports whether the entry is in the file now; nil is one that is not there.
func (k *claudeKind) stands(p Place, want map[string]any) error {
	have, _, _, err := k.entry(p)
	if err != nil {
		return err
	}
	if (have == nil) != (want == nil) || !same(have, want) {
		return fault.New(fault.Unavailable, "Claude Code said that it was done, but its file does not say so").
			WithHint("Another Claude Code may have written %s at the same time. Try again.", k.file(p))
	}
	return nil
}

func (k *claudeKind) unregister(ctx context.Context, p Place, program string, plan Plan) error {
	if err := k.run(ctx, p, program, claudeRemove, ""); err != nil {
		return err
	}
	if plan.former != nil {
		if err := k.putBack(ctx, p, program, plan.former); err != nil {
			return err
		}
	}
	if err := k.stands(p, plan.former); err != nil {
		return err
	}
	return p.dropReceipt(k.client.ID)
}

// run runs claude in the folder of its configuration, with the person's own environment.
func (k *claudeKind) run(ctx context.Context, p Place, program string, args []string, stdin string) error {
	r, err := childproc.Run(ctx, childproc.Cmd{Path: program, Args: args, Dir: p.Home, Env: p.Environ,
		Stdin: strings.NewReader(stdin), Timeout: claudeTimeout, MaxOutput: maxWords})
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "`claude %s` could not be run", strings.Join(args[:2], " "))
	}
	if r.Code != 0 {
		return fault.New(fault.Unavailable, "`claude %s` failed: %s", strings.Join(args[:2], " "), words(r.Stderr+"\n"+string(r.Stdout))).
			WithHint("Run `claude mcp list` in a terminal to see what is wrong.")
	}
	return nil
}

func (k *claudeKind) access(p Place) (access, error) {
	have, _, _, err := k.entry(p)
	if err != nil || have == nil {
		return access{}, err
	}
	address, _ := have[k.shape.address].(string)
	src, _ := k.shape.source(have)
	return access{source: src, folder: k.folder(p),
		environ: append(slices.Clone(p.Environ), "CLAUDE_CODE_MCP_SERVER_NAME="+Name, "CLAUDE_CODE_MCP_SERVER_URL="+address)}, nil
}

func (k *claudeKind) block(_ Place, e Entry) (Block, error) {
	fields, err := k.shape.fields(e)
	if err != nil {
		return Block{}, err
	}
	return Block{Where: "a terminal", Language: "sh",
		Text: "claude mcp remove " + Name + " --scope user 2>/dev/null\nclaude mcp add-json " + Name + " " + quote(string(oneLine(fields))) + " --scope user\n"}, nil
}
