// Package repofile reads .termic.yaml, in which a repository says how its tasks should be run.
//
// The file comes from whoever wrote the repository, so nothing in it is trusted. It has two parts. Knobs tighten: a mode that
// is at least kept, a control plane that is switched off, projects and agents that are at most allowed. Proposals widen or
// run something: files, hosts and scripts; they wait for the owner's consent to this very content, which Digest names.
//
// The package promises to read a plain file of the main checkout and no other: no link, no device, no more than MaxSize
// bytes; and that a file which it does not understand is an error with its line, never a file that says nothing. Keys that
// it does not know are an error within sandbox, where a misspelt knob would silently not tighten; elsewhere they are left
// to other readers.
//
// It does not decide anything: what is tightened, and whether somebody agreed, is settled by its caller.
package repofile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"termic/internal/fault"
)

// Name is the file's name in the root of a project's folder.
const Name = ".termic.yaml"

// Limits of a file. They are far above use.
const (
	MaxSize = 64 << 10 // bytes
	maxList = 256      // items of one list
	maxItem = 4096     // bytes of one item: PATH_MAX
	maxCode = 16 << 10 // bytes of one script
)

// File is what a .termic.yaml says.
type File struct {
	Digest string // SHA-256 of the bytes, hexadecimal
	Text   string // the bytes themselves

	// Knobs. They only tighten.
	Mode     string   // off, monitor, enforce-fs, enforce; empty: not said
	NoMCP    bool     // mcp: false
	Projects []string // names; nil: not said, empty: none
	Agents   []string // ids; nil: not said, empty: none

	// Proposals. They wait for consent.
	Read, Write, Hosts []string
	Scripts            []Script // in the order setup, run, archive
}

// Script is a command for a shell.
type Script struct{ Name, Command string }

// Setup is the name of the one script that Termic runs. The others are read so that a person can be told that they do nothing.
const Setup = "setup"

// Proposes reports whether anything in the file waits for consent. A script that is never run does not.
func (f File) Proposes() bool {
	runs := func(s Script) bool { return s.Name == Setup }
	return len(f.Read)+len(f.Write)+len(f.Hosts) > 0 || slices.ContainsFunc(f.Scripts, runs)
}

// Read reads the file of a folder. found is false where there is none. What it cannot read or understand is
// fault.Unavailable, with the line.
func Read(dir string) (f File, found bool, err error) {
	path := filepath.Join(dir, Name)
	raw, err := plainFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return File{}, false, nil
	case err != nil:
		return File{}, false, broken(path, err)
	}
	if f, err = Parse(raw); err != nil {
		return File{}, false, broken(path, err)
	}
	return f, true, nil
}

func broken(path string, err error) error {
	return fault.Wrap(err, fault.Unavailable, "%s cannot be understood: %s", path, err).
		WithHint("No agent of the project starts until it is mended, since it may ask for a tighter cage.")
}

// plainFile reads a small regular file without following a link at its end, and without waiting for a pipe.
func plainFile(path string) ([]byte, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	opened, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(before, opened) {
		return nil, errors.New("it changed while it was opened")
	}
	raw, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err == nil && len(raw) > MaxSize {
		err = errors.New("it is longer than 64 KiB")
	}
	return raw, err
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
