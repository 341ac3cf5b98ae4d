package agent

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"termic/internal/fault"
)

// ClaudeTranscript reads the last answer of claude: the last line of its transcript that is of the assistant, not of a
// side chain, and has text. configDir is its CLAUDE_CONFIG_DIR, by default ~/.claude. Without a session id the newest
// transcript of the directory is taken, unless the directory is shared.
func ClaudeTranscript(configDir, cwd, sessionID string, shared bool) (Found, error) {
	return claudeTranscript(place{dir: configDir}, cwd, sessionID, shared)
}

func claudeTranscript(at place, cwd, sessionID string, shared bool) (Found, error) {
	if sessionID == "" && shared {
		return Found{}, noSession("Claude Code")
	}
	if sessionID != "" && !safeID(sessionID) {
		return Found{}, fault.New(fault.InvalidArgument, "The conversation id is not valid")
	}
	root, err := at.open()
	if err != nil {
		return Found{}, noResult("Claude Code")
	}
	defer root.Close()
	name := claudeFile(root, cwd, sessionID)
	if name == "" {
		return Found{}, noResult("Claude Code")
	}
	return readTranscript(root, name, filepath.Join(at.dir, name), "Claude Code", claudeEntry)
}

// claudeFile finds a transcript. The directory is named after the path as the system resolves it; a known conversation
// that is not there is looked for in all of them, since very long names are cut in ways of their own.
func claudeFile(root *os.Root, cwd, sessionID string) string {
	dirs := []string{claudeDirName(cwd)}
	if real, err := filepath.EvalSymlinks(cwd); err == nil && real != cwd {
		dirs = append(dirs, claudeDirName(real))
	}
	if sessionID != "" {
		if d, err := openAt(root, "projects"); err == nil {
			more, _ := d.ReadDir(maxEntries) // what could be read is enough
			d.Close()
			for _, e := range more {
				dirs = append(dirs, e.Name())
			}
		}
	}
	for _, dir := range dirs {
		rel := filepath.Join("projects", dir)
		if sessionID == "" {
			if name := newestFile(root, rel); name != "" {
				return name
			}
			continue
		}
		name := filepath.Join(rel, sessionID+".jsonl")
		if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// claudeDirName is how claude names the directory of a project: everything that is no ASCII letter or digit becomes a
// dash.
func claudeDirName(cwd string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
}

// newestFile returns the newest regular .jsonl file of a directory.
func newestFile(root *os.Root, dir string) string {
	d, err := openAt(root, dir)
	if err != nil {
		return ""
	}
	defer d.Close()
	entries, _ := d.ReadDir(maxEntries) // what could be read is enough
	best, newest := "", fs.FileInfo(nil)
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".jsonl" {
			continue
		}
		info, err := e.Info()
		if err == nil && (newest == nil || info.ModTime().After(newest.ModTime())) {
			best, newest = filepath.Join(dir, e.Name()), info
		}
	}
	return best
}

// entry is what a line of a transcript is to us.
type entry struct {
	text string // of an answer
	at   time.Time
	open bool // it wants an answer
}

// readTranscript finds the last answer of a transcript.
func readTranscript(root *os.Root, name, path, who string, read func(line []byte) entry) (Found, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return Found{}, noResult(who)
	}
	defer f.Close()
	out := Found{Path: path}
	err = linesFromEnd(f, maxTranscript, func(line []byte) bool {
		e := read(line)
		out.Text, out.At, out.Open = e.text, e.at, out.Open || e.open
		return out.Text == ""
	})
	if err != nil {
		return Found{}, fault.Wrap(err, fault.Unavailable, "The transcript of %s could not be read", who)
	}
	if out.Text == "" {
		return Found{}, noResult(who)
	}
	if len(out.Text) > MaxResult {
		out.Text, out.Truncated = strings.ToValidUTF8(out.Text[len(out.Text)-MaxResult:], ""), true
	}
	return out, nil
}

// place is the folder of an agent's files. With inside, nothing may lead out of that folder on the way: a cage writes there.
type place struct {
	dir    string
	inside string
}

func (p place) open() (*os.Root, error) {
	if p.inside == "" {
		return os.OpenRoot(p.dir)
	}
	rel, err := filepath.Rel(p.inside, p.dir)
	if err != nil {
		return nil, err
	}
	outer, err := os.OpenRoot(p.inside)
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	return outer.OpenRoot(rel)
}

// openAt opens a file or folder for reading. It never waits: somebody may have put a pipe in its place.
func openAt(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// openRegular opens a file of the root that is no link, device or pipe.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	f, err := openAt(root, name)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err != nil || !os.SameFile(info, opened) {
		f.Close()
		return nil, fs.ErrInvalid
	}
	return f, nil
}

// claudeEntry reads a line of claude's transcript.
func claudeEntry(line []byte) entry {
	var l struct {
		Type        string `json:"type"`
		Timestamp   string `json:"timestamp"`
		IsSidechain bool   `json:"isSidechain"`
		IsMeta      bool   `json:"isMeta"`
		Message     struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &l) != nil || l.IsSidechain || l.IsMeta {
		return entry{}
	}
	switch l.Type {
	case "assistant":
		at, _ := time.Parse(time.RFC3339Nano, l.Timestamp) // zero when it is none
		return entry{text: joinContent(l.Message.Content, "text"), at: at, open: hasBlock(l.Message.Content, "tool_use")}
	case "user":
		return entry{open: true}
	}
	return entry{}
}

// hasBlock reports whether a list of blocks has one of the given kind.
func hasBlock(raw json.RawMessage, kind string) bool {
	var blocks []struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return false
	}
	for _, b := range blocks {
		if b.Type == kind {
			return true
		}
	}
	return false
}

// joinContent reads content that is a string or a list of blocks; blocks of the given kind are joined by newlines.
func joinContent(raw json.RawMessage, kind string) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if strings.TrimSpace(s) == "" {
			return ""
		}
		return s
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		if b.Type == kind && strings.TrimSpace(b.Text) != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// CodexTranscript reads the last answer of codex. It keeps one file per conversation, sessions/YYYY/MM/DD/
// rollout-TIME-ID.jsonl under its CODEX_HOME; the first line tells id and directory. Without a session id the newest
// conversation that began in cwd is taken, unless the directory is shared.
func CodexTranscript(codexHome, cwd, sessionID string, shared bool) (Found, error) {
	return codexTranscript(place{dir: codexHome}, cwd, sessionID, shared)
}

func codexTranscript(at place, cwd, sessionID string, shared bool) (Found, error) {
	if sessionID == "" && shared {
		return Found{}, noSession("Codex")
	}
	if sessionID != "" && !safeID(sessionID) {
		return Found{}, fault.New(fault.InvalidArgument, "The conversation id is not valid")
	}
	root, err := at.open()
	if err != nil {
		return Found{}, noResult("Codex")
	}
	defer root.Close()
	for _, name := range rollouts(root) {
		if sessionID != "" && !strings.HasSuffix(name, sessionID+".jsonl") {
			continue
		}
		meta, ok := rolloutMeta(root, name)
		if !ok || sessionID == "" && meta.Cwd != cwd || sessionID != "" && meta.ID != sessionID {
			continue
		}
		return readTranscript(root, name, filepath.Join(at.dir, name), "Codex", codexEntry)
	}
	return Found{}, noResult("Codex")
}

// rollouts lists codex's files, newest name first: the names begin with the time.
func rollouts(root *os.Root) []string {
	var out []string
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		d, err := openAt(root, dir)
		if err != nil {
			return
		}
		defer d.Close()
		entries, _ := d.ReadDir(maxEntries)
		sort.Slice(entries, func(i, j int) bool { return entries[i].Name() > entries[j].Name() })
		for _, e := range entries {
			if len(out) >= maxEntries {
				return
			}
			name := filepath.Join(dir, e.Name())
			switch {
			case e.IsDir() && depth < 3:
				walk(name, depth+1)
			case e.Type().IsRegular() && strings.HasPrefix(e.Name(), "rollout-") && filepath.Ext(e.Name()) == ".jsonl":
				out = append(out, name)
			}
		}
	}
	walk("sessions", 0)
	return out
}

// rolloutHead identifies a conversation of codex.
type rolloutHead struct {
	ID  string `json:"id"`
	Cwd string `json:"cwd"`
}

// rolloutMeta reads the first line of a file of codex.
func rolloutMeta(root *os.Root, name string) (rolloutHead, bool) {
	f, err := openRegular(root, name)
	if err != nil {
		return rolloutHead{}, false
	}
	defer f.Close()
	line, err := firstLine(f)
	if err != nil {
		return rolloutHead{}, false
	}
	var l struct {
		Type    string      `json:"type"`
		Payload rolloutHead `json:"payload"`
	}
	if json.Unmarshal(line, &l) != nil || l.Type != "session_meta" {
		return rolloutHead{}, false
	}
	return l.Payload, true
}

// codexEntry reads a line of codex's transcript.
func codexEntry(line []byte) entry {
	var l struct {
		Type      string `json:"type"`
		Timestamp string `json:"timestamp"`
		Payload   struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &l) != nil || l.Type != "response_item" {
		return entry{}
	}
	switch {
	case l.Payload.Type == "message" && l.Payload.Role == "assistant":
		at, _ := time.Parse(time.RFC3339Nano, l.Timestamp) // zero when it is none
		return entry{text: joinContent(l.Payload.Content, "output_text"), at: at}
	case l.Payload.Type == "message":
		return entry{open: l.Payload.Role == "user"}
	}
	return entry{open: l.Payload.Type != "reasoning"}
}
