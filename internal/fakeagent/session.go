package main

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Record is one line of FAKEAGENT_LOG: a submitted prompt (N counts from 1) or an event.
type Record struct {
	N       int       `json:"n,omitempty"`
	Event   string    `json:"event,omitempty"` // early, command, update, trust, answer, shell-ran
	Prompt  []byte    `json:"prompt"`          // exact bytes, in base64
	Session string    `json:"session,omitempty"`
	Pid     int       `json:"pid"`
	At      time.Time `json:"at"`
}

// record appends to the log in one write.
func (a *agent) record(r Record) {
	if a.o.log == "" {
		return
	}
	r.Pid, r.At, r.Session = os.Getpid(), time.Now(), a.session.id
	appendLine(a.o.log, r)
}

// appendLine appends one line of JSON to a file. A test that cannot read what it waits for fails, so an error here is
// only printed.
func appendLine(path string, v any) {
	b, err := json.Marshal(v)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, err = f.Write(append(b, '\n'))
			f.Close()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakeagent:", err)
	}
}

// session is a conversation.
type session struct {
	id         string
	file       string // empty = kept nowhere
	transcript string // in claude's form; empty = none
	old        int    // prompts of before
	resumed    bool
}

// turnRow is a line of a conversation's file.
type turnRow struct {
	Role string `json:"role"`
	Text []byte `json:"text"`
	Dir  string `json:"dir"`
}

// openSession begins or takes up a conversation.
func openSession(o options) (*session, error) {
	s := &session{id: o.sessionID}
	dir := filepath.Join(o.home, "sessions")
	switch {
	case o.resume != "":
		s.id, s.resumed = o.resume, true
	case o.latest:
		s.id, s.resumed = newest(dir), true
	case s.id == "":
		s.id = strings.ToLower(rand.Text())
	}
	if o.home != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		s.file = filepath.Join(dir, filepath.Base(s.id)+".jsonl")
	}
	if s.resumed {
		n, err := countTurns(s.file)
		if err != nil {
			return nil, fmt.Errorf("no conversation found with session ID: %s", s.id)
		}
		s.old = n
	}
	if o.claude != "" {
		cwd, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		name := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, cwd)
		sub := filepath.Join(o.claude, "projects", name)
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return nil, err
		}
		s.transcript = filepath.Join(sub, filepath.Base(s.id)+".jsonl")
	}
	return s, nil
}

// newest is the id of the newest conversation of the working directory.
func newest(dir string) string {
	cwd, _ := os.Getwd()
	best, at := "", time.Time{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.ModTime().After(at) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil || len(b) == 0 {
			continue
		}
		var row turnRow
		line, _, _ := strings.Cut(string(b), "\n")
		if json.Unmarshal([]byte(line), &row) == nil && row.Dir == cwd {
			best, at = strings.TrimSuffix(e.Name(), ".jsonl"), info.ModTime()
		}
	}
	return best
}

func countTurns(file string) (int, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n := 0
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var row turnRow
		if json.Unmarshal(line, &row) == nil && row.Role == "user" {
			n++
		}
		if err != nil {
			return n, nil
		}
	}
}

// greeting tells which conversation this is.
func (s *session) greeting() string {
	if s.resumed {
		return fmt.Sprintf("resumed %s with %d prompts", s.id, s.old)
	}
	return "session " + s.id
}

// add keeps a prompt. As with real agents the conversation exists from the first one on.
func (s *session) add(body []byte) {
	s.put("user", body)
	if s.transcript != "" {
		appendLine(s.transcript, map[string]any{"type": "user", "isSidechain": false, "message": map[string]any{"role": "user", "content": string(body)}})
	}
}

// reply keeps an answer.
func (s *session) reply(text string) {
	s.put("assistant", []byte(text))
	if s.transcript != "" {
		appendLine(s.transcript, map[string]any{"type": "assistant", "isSidechain": false,
			"message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}}})
	}
}

func (s *session) put(role string, body []byte) {
	if s.file == "" {
		return
	}
	cwd, _ := os.Getwd()
	appendLine(s.file, turnRow{Role: role, Text: body, Dir: cwd})
}
