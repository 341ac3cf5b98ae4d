// Package remote is the command line's way to a Termic on another machine: through its browser and API face, with a token of
// that face, over TLS with a pinned key.
//
// What is known of each is one file that its owner alone may read, with the token in it. It promises that the token is sent to
// nobody but the key that was pinned at the login, or, without a pin, to whom the system's certificates vouch for; and that no
// redirect is followed with it.
package remote

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"termic/internal/atomicfile"
	"termic/internal/fault"
)

// dirName is the folder of the files in the data folder.
const dirName = "remotes"

// maxName is the longest name, in characters.
const maxName = 64

// maxFile bounds what is read of a file.
const maxFile = 16 << 10

// Remote is one Termic elsewhere. Its Token is a secret: the value goes into the file and into requests.
type Remote struct {
	Name        string `json:"-"`
	URL         string `json:"url"`                   // https, without a path
	Fingerprint string `json:"fingerprint,omitempty"` // of its key; empty: the system's certificates decide
	Token       string `json:"token"`
}

// checkName refuses what could not be a file of its own everywhere.
func checkName(name string) error {
	if name == "" || len(name) > maxName || name[0] == '.' || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") != "" {
		return fault.New(fault.InvalidArgument, "Another Termic cannot be called %q", name).WithHint("Take letters, digits, - . and _, at most %d of them.", maxName)
	}
	return nil
}

func file(dataDir, name string) string { return filepath.Join(dataDir, dirName, name+".json") }

// Save writes what is known, in place of what was known by that name.
func Save(dataDir string, r Remote) error {
	if err := checkName(r.Name); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Join(dataDir, dirName), 0o700)
	}
	if err == nil {
		err = atomicfile.WriteFile(file(dataDir, r.Name), append(text, '\n'), 0o600, atomicfile.ExactMode())
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The login could not be written to %s", file(dataDir, r.Name)).WithHint("Check the free space and the permissions of the folder.")
	}
	return nil
}

// Load reads what is known by a name. A file that others may read is refused: its token may be theirs too.
func Load(dataDir, name string) (Remote, error) {
	if err := checkName(name); err != nil {
		return Remote{}, err
	}
	path := file(dataDir, name)
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Remote{}, fault.New(fault.NotFound, "There is no login called %q", name).WithHint("`termic login URL --name %s` makes one.", name).OrNear(name, Names(dataDir))
	case err == nil && (!st.Mode().IsRegular() || st.Mode().Perm()&0o077 != 0 || st.Size() > maxFile):
		return Remote{}, fault.New(fault.Forbidden, "The login in %s is not the owner's alone", path).WithHint("Its token may be known to others: revoke it there, remove the file, and log in again.")
	}
	r := Remote{Name: name}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || r.URL == "" || r.Token == "" {
		return Remote{}, fault.Wrap(err, fault.Unavailable, "The login in %s cannot be read", path).WithHint("Log in again.")
	}
	return r, nil
}

// Forget removes what is known by a name, or of an address that exactly one login has, and returns it as far as it could be read.
// The token stays good on the other side.
func Forget(dataDir, which string) (Remote, error) {
	name := which
	if at, err := ParseURL(which); err == nil {
		var has []string
		for _, n := range Names(dataDir) {
			if r, err := Load(dataDir, n); err == nil && r.URL == at {
				has = append(has, n)
			}
		}
		switch len(has) {
		case 0:
			return Remote{}, fault.New(fault.NotFound, "There is no login for %s", at).WithHint("Name it as it was called at the login; the files are in %s.", filepath.Join(dataDir, dirName))
		case 1:
			name = has[0]
		default:
			return Remote{}, fault.New(fault.Ambiguous, "Several logins are for %s: %s", at, strings.Join(has, ", ")).WithHint("Name one of them.")
		}
	}
	r, err := Load(dataDir, name)
	switch fault.CodeOf(err) {
	case fault.InvalidArgument, fault.NotFound:
		return Remote{}, err
	}
	// One that cannot be read, or that others may read, is forgotten all the more.
	if err := os.Remove(file(dataDir, name)); err != nil {
		return Remote{}, fault.Wrap(err, fault.Unavailable, "The login in %s could not be removed", file(dataDir, name)).WithHint("Check the permissions of the folder.")
	}
	r.Name = name
	return r, nil
}

// Names are those of the logins that there are; none where that cannot be told.
func Names(dataDir string) []string {
	entries, err := os.ReadDir(filepath.Join(dataDir, dirName))
	if err != nil {
		return nil // none can be named
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			out = append(out, name)
		}
	}
	return out
}
