// Package datadir finds, makes and locks the folder that holds the whole profile: settings, database, socket, tokens.
//
// What it promises: the folder is the user's own and closed to others (0700) once [Open] returns; at most one process
// holds it, and whoever comes second learns who does. The lock ends with the process, however it ends.
//
// What it does not cover: what is in the files, and a file system without locks or on another machine, which is refused.
package datadir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"termic/internal/fault"
)

// EnvVar moves the whole profile to another folder. It is for this process alone: children never get it.
const EnvVar = "TERMIC_DATA_DIR"

// Names of the files of the data folder. They are a public interface: scripts and cages rely on them.
const (
	SettingsFile = "settings.toml"
	DatabaseFile = "termic.db"
	SocketFile   = "termic.sock" // 0600
	CLITokenFile = "cli-token"   // 0600
	MCPTokenFile = "mcp-token"   // 0600
	WebKeyFile   = "web-key.pem" // key and certificate of the browser face, 0600
	MCPPortFile  = "mcp-port"    // the last bound port, 0600
	TokensDir    = "tokens"      // a 0600 file per named token
	SecretsDir   = "secrets"     // a 0600 file per secret that no keyring took
	LockFile     = "termic.lock" // never removed, or two processes could lock two files of that name
)

const (
	lockWait  = 300 * time.Millisecond // for a look of HeldBy, and for a holder that is about to end
	lockRetry = 10 * time.Millisecond
	maxHolder = 4096 // bytes of the lock file that are read
)

// Holder says who holds the folder.
type Holder struct {
	PID  int    `json:"pid"`
	Face string `json:"face"` // window, serve
}

// Dir is a data folder that this process holds.
type Dir struct {
	Path string // absolute, links resolved
	lock *os.File
}

// Find returns the data folder without touching it: what TERMIC_DATA_DIR says, else the platform's place for data.
// getenv reads the environment, as os.Getenv does. A relative TERMIC_DATA_DIR is fault.InvalidArgument, because two
// programs started in different folders would not meet.
func Find(getenv func(string) string) (string, error) { return find(getenv, runtime.GOOS) }

func find(getenv func(string) string, goos string) (string, error) {
	if dir := getenv(EnvVar); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fault.New(fault.InvalidArgument, "%s is %q, which is not an absolute path", EnvVar, dir)
		}
		return filepath.Clean(dir), nil
	}
	home := getenv("HOME")
	var dir string
	switch goos {
	case "darwin":
		dir = filepath.Join(home, "Library", "Application Support", "termic")
	case "windows":
		home = getenv("LOCALAPPDATA")
		dir = filepath.Join(home, "termic")
	default:
		if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) { // the base directory specification ignores relative ones
			return filepath.Join(data, "termic"), nil
		}
		dir = filepath.Join(home, ".local", "share", "termic")
	}
	if !filepath.IsAbs(home) {
		return "", fault.New(fault.Unavailable, "There is no home folder to keep the state of Termic in").
			WithHint("Set HOME, or give Termic a folder with %s.", EnvVar)
	}
	return dir, nil
}

// Open makes the folder if it is absent, closes it to others, and takes its lock for this process until Close. Held by
// another process is fault.Conflict, with data pid and face; another user's folder is fault.Forbidden; one on a network
// file system is fault.Unavailable. The context bounds the short wait for a holder that is about to end.
func Open(ctx context.Context, path string, holder Holder) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The data folder %s cannot be made", path).
			WithHint("Give Termic another one with %s.", EnvVar)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("follow the data folder: %w", err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, fmt.Errorf("absolute path of the data folder: %w", err)
	}
	if err := closeToOthers(real); err != nil {
		return nil, err
	}
	if err := notOnNetwork(real, network(real)); err != nil {
		return nil, err
	}
	d := &Dir{Path: real}
	if d.lock, err = os.OpenFile(d.File(LockFile), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The data folder %s cannot be written", real).
			WithHint("Check its permissions and the free space.")
	}
	if err := d.take(ctx, holder); err != nil {
		return nil, errors.Join(err, d.lock.Close())
	}
	return d, nil
}

// notOnNetwork refuses a folder whose files are on another machine. The database shares memory between its connections through a file, which only
// one machine can; a server that goes away ends a program in the middle of that; and the lock may hold on this machine alone.
func notOnNetwork(path, kind string) error {
	if kind == "" {
		return nil
	}
	return fault.New(fault.Unavailable, "The data folder %s is on a network file system (%s), where the state of Termic is not safe", path, kind).
		WithHint("Give Termic a local folder with %s. The home folder, repositories and worktrees may stay where they are.", EnvVar)
}

// closeToOthers makes sure that the folder is this user's and that nobody else gets in.
func closeToOthers(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at the data folder: %w", err)
	}
	if !st.IsDir() {
		return fault.New(fault.Unavailable, "%s is not a folder", path)
	}
	if !ownedByUs(st) {
		return fault.New(fault.Forbidden, "The data folder %s belongs to another user", path).
			WithHint("Start Termic as that user, or give it another folder with %s.", EnvVar)
	}
	if st.Mode().Perm() == 0o700 {
		return nil
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The data folder %s is open to others and cannot be closed", path)
	}
	return nil
}

// take locks the folder and writes down who did.
func (d *Dir) take(ctx context.Context, holder Holder) error {
	deadline := time.Now().Add(lockWait)
	for {
		held, err := tryLock(d.lock, true)
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "The data folder %s is on a file system without locks", d.Path).
				WithHint("Give Termic a local folder with %s.", EnvVar)
		}
		if !held {
			break
		}
		if time.Now().After(deadline) {
			return heldFault(d.Path, readHolder(d.lock))
		}
		select {
		case <-ctx.Done():
			return fault.Wrap(context.Cause(ctx), fault.Unavailable, "The start was stopped before the data folder was free")
		case <-time.After(lockRetry):
		}
	}
	b, err := json.Marshal(holder)
	if err != nil {
		return fmt.Errorf("write the holder: %w", err)
	}
	if err := errors.Join(d.lock.Truncate(0), writeAt(d.lock, append(b, '\n')), d.lock.Chmod(0o600)); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The data folder %s cannot be written", d.Path)
	}
	return nil
}

func writeAt(f *os.File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}

func heldFault(path string, h Holder) error {
	who := "another process"
	switch {
	case h.PID > 0 && h.Face != "":
		who = fmt.Sprintf("`%s`, process %d", h.Face, h.PID)
	case h.PID > 0:
		who = fmt.Sprintf("process %d", h.PID)
	}
	return fault.New(fault.Conflict, "Termic is running already on %s: %s holds it", path, who).
		WithHint("Use the running one, quit it first, or give this one another folder with %s.", EnvVar).
		WithData("pid", h.PID).WithData("face", h.Face)
}

// readHolder reads what the holder wrote; the zero Holder, if it is just writing.
func readHolder(f *os.File) Holder {
	var h Holder
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxHolder))
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	return h
}

// HeldBy tells who holds the folder at path, if anybody does. The zero Holder with true means that somebody does who
// has not said who.
func HeldBy(path string) (h Holder, held bool, err error) {
	f, err := os.Open(filepath.Join(path, LockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, false, nil
	}
	if err != nil {
		return Holder{}, false, fault.Wrap(err, fault.Unavailable, "The data folder %s cannot be read", path)
	}
	defer func() { _ = f.Close() }() // ends the lock of this look
	if held, err = tryLock(f, false); err != nil {
		return Holder{}, false, fault.Wrap(err, fault.Unavailable, "The data folder %s is on a file system without locks", path)
	}
	if !held {
		return Holder{}, false, nil
	}
	return readHolder(f), true, nil
}

// File returns the path of a file of the folder.
func (d *Dir) File(name string) string { return filepath.Join(d.Path, name) }

// Close gives the folder free. The lock file stays, empty.
func (d *Dir) Close() error {
	if err := errors.Join(d.lock.Truncate(0), d.lock.Close()); err != nil {
		return fmt.Errorf("give the data folder free: %w", err)
	}
	return nil
}
