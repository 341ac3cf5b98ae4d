package clientsetup

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termic/internal/childproc"
	"termic/internal/fault"
)

const someToken = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// nasty are names of folders that break a careless command.
var nasty = []string{"plain", "two  words", "it's", `"quoted"`, `'"both"'`, "$HOME", "`id`", "$(id)", "a;b&c|d", "*?[x]", "-x", "--", "~", "#no comment", `back\slash`, `\\`, `end\`,
	"é你好👨‍👩‍👧", "new\nline", "tab\t", "!history", "(paren)", "{brace}", "a=b", "<in>out", "“smart”", " lead", "trail ", "'", "''", `'\''`, "%s%n"}

// shells are what a client may hand the command to.
func shells(t *testing.T) map[string]string {
	out := map[string]string{"sh": "/bin/sh"}
	for _, name := range []string{"dash", "bash", "zsh", "ksh", "mksh"} {
		if path, err := exec.LookPath(name); err == nil {
			out[name] = path
		} else if name == "dash" || name == "bash" {
			t.Logf("NOT TESTED with %s: it is not here", name)
		}
	}
	return out
}

func runCommand(t *testing.T, shell, command string) childproc.Result {
	t.Helper()
	r, err := childproc.Run(context.Background(), childproc.Cmd{Path: shell, Args: []string{"-c", command}, Dir: t.TempDir(),
		Env: []string{"PATH=/nowhere", "HOME=/nowhere", "t=0123456789"}, Timeout: commandTimeout})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTokenCommandReadsTheFileFromAnyPath(t *testing.T) {
	for name, shell := range shells(t) {
		for _, n := range nasty {
			dir := filepath.Join(t.TempDir(), n)
			path := filepath.Join(dir, "mcp-token")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(someToken+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for bearer, want := range map[bool]map[string]string{false: {TokenHeader: someToken}, true: {"Authorization": "Bearer " + someToken}} {
				command := TokenCommand(path, bearer)
				r := runCommand(t, shell, command)
				headers := map[string]string{}
				if err := json.Unmarshal(r.Stdout, &headers); err != nil || r.Code != 0 || !maps.Equal(headers, want) || r.Stderr != "" {
					t.Errorf("%s, %q: %d %q %q", name, n, r.Code, r.Stdout, r.Stderr)
				}
				if got, ok := readSource(command); !ok || got != (source{command: command, file: path, bearer: bearer}) {
					t.Errorf("%q is read back as %+v, %v", path, got, ok)
				}
			}
		}
	}
}

func TestTokenCommandFailsInWords(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, shell := range shells(t) {
		for _, path := range []string{filepath.Join(dir, "gone"), filepath.Join(dir, "it's gone", "too"), dir, file("empty", ""), file("blank", "\n"),
			file("inject", `x","Y":"z`), file("spaces", "a b"), file("escape", `a\n`), file("percent", "%s")} {
			r := runCommand(t, shell, TokenCommand(path, name == "bash"))
			if r.Code != 1 || len(r.Stdout) != 0 || !strings.Contains(r.Stderr, "termic: no token in "+path) || strings.Count(r.Stderr, "\n") != 1 {
				t.Errorf("%s, %q: %d %q %q", name, path, r.Code, r.Stdout, r.Stderr)
			}
		}
		if r := runCommand(t, shell, TokenCommand(file("cut", someToken), false)); r.Code != 0 || !strings.Contains(string(r.Stdout), someToken) { // no last newline
			t.Errorf("%s: %d %q %q", name, r.Code, r.Stdout, r.Stderr)
		}
	}
}

// A token must not be seen in the list of programs: the only program of the command is the shell, and that gets the path.
func TestTokenCommandStartsNoProgram(t *testing.T) {
	if strings.Contains(script(false)+script(true), "'") {
		t.Error("the script has a single quote, which ends its own quotation")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp-token")
	if err := os.WriteFile(path, []byte(someToken), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := childproc.Run(context.Background(), childproc.Cmd{Path: "/bin/sh", Args: []string{"-c", TokenCommand(path, true)}, Dir: dir, Env: []string{}, Timeout: commandTimeout})
	if err != nil || r.Code != 0 || !strings.Contains(string(r.Stdout), someToken) { // no PATH: nothing could be found
		t.Errorf("%v %+v", err, r)
	}
}

func TestTermicCommand(t *testing.T) {
	dir := t.TempDir()
	for _, n := range nasty {
		binary := filepath.Join(dir, n+"x", "termic")
		if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(binary, []byte("#!/bin/sh\nprintf '%s|' \"$TERMIC_DATA_DIR\" \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		for bearer, args := range map[bool]string{false: "|mcp|headers|", true: "|mcp|headers|--bearer|"} {
			command := TermicCommand(binary, "/data/"+n, bearer)
			if r := runCommand(t, "/bin/sh", command); string(r.Stdout) != "/data/"+n+args {
				t.Errorf("%q: %d %q %q", n, r.Code, r.Stdout, r.Stderr)
			}
			if got, ok := readSource(command); !ok || got != (source{command: command, binary: binary, folder: "/data/" + n, bearer: bearer}) {
				t.Errorf("%q is read back as %+v, %v", command, got, ok)
			}
		}
	}
	for _, other := range []string{"", "x", "'", "TERMIC_DATA_DIR=", "TERMIC_DATA_DIR='a' 'b' mcp headers; x", "TERMIC_DATA_DIR='a''b' mcp headers", TokenCommand("/a", false) + " b", TokenCommand("/a", true) + "'b",
		"TERMIC_DATA_DIR='a' 'b' mcp headers --bearer --json"} {
		if _, ok := readSource(other); ok {
			t.Errorf("%q was taken for ours", other)
		}
	}
}

func TestEntriesThatCannotBe(t *testing.T) {
	for _, tt := range []struct {
		url, folder, file string
		code              fault.Code
	}{
		{"http://127.0.0.1:1/mcp", "/d", "/d/t", ""},
		{"http://[::1]:1/mcp", "/d", "/d/t", ""},
		{"http://localhost:1/mcp", "/d", "/d/t", fault.InvalidArgument},
		{"http://127.0.0.1/mcp", "/d", "/d/t", fault.InvalidArgument},
		{"http://127.0.0.1:1/other", "/d", "/d/t", fault.InvalidArgument},
		{"http://127.0.0.1:1/mcp?x", "/d", "/d/t", fault.InvalidArgument},
		{"http://u@127.0.0.1:1/mcp", "/d", "/d/t", fault.InvalidArgument},
		{"https://example.org:1/mcp", "/d", "/d/t", fault.InvalidArgument},
		{"http://192.0.2.1:1/mcp", "/d", "/d/t", fault.InvalidArgument},
		{"", "/d", "/d/t", fault.InvalidArgument},
		{"http://127.0.0.1:1/mcp", "d", "/d/t", fault.InvalidArgument},
		{"http://127.0.0.1:1/mcp", "/d", "t", fault.InvalidArgument},
		{"http://127.0.0.1:1/mcp", "/d\xff", "/d/t", fault.Unsupported},
		{"http://127.0.0.1:1/mcp", "/d", "/d/\xff", fault.Unsupported},
		{"http://127.0.0.1:1/mcp", "/d", "/d/\x00", fault.Unsupported},
	} {
		if _, err := NewEntry(tt.url, tt.folder, tt.file); fault.CodeOf(err) != tt.code {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	e, err := NewEntry("http://127.0.0.1:1/mcp", "/d", "/d/t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.ByTermic("termic"); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a program without a folder: %v", err)
	}
}
