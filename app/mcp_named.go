package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"termic/internal/core"
	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/grant"
)

// namesFunc tells which named tokens there are.
type namesFunc func(context.Context) ([]core.NamedGrant, error)

// SetNamed makes the token of a name, or changes what it gives.
func (e *endpoint) SetNamed(g core.NamedGrant) error {
	e.act.Lock()
	defer e.act.Unlock()
	if e.server == nil {
		return nil
	}
	if e.named[nameKey(g.Name)] == nil {
		return e.mintName(g)
	}
	e.tokens.Change(func(have grant.Grant) bool { return have.Principal == g.Grant.Principal }, g.Grant)
	return nil
}

// DropNamed ends the token of a name and removes its file.
func (e *endpoint) DropNamed(name string) {
	e.act.Lock()
	defer e.act.Unlock()
	if revoke := e.named[nameKey(name)]; revoke != nil {
		revoke()
		delete(e.named, nameKey(name))
	}
	if err := os.Remove(e.nameFile(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.log.Error("mcp: the file of a token could not be removed", "name", name, "err", err)
	}
}

// NamedFile is the file of a name while it serves.
func (e *endpoint) NamedFile(name string) string {
	if e.Bind() == 0 {
		return ""
	}
	return e.nameFile(name)
}

func (e *endpoint) nameFile(name string) string {
	return filepath.Join(e.dir.File(datadir.TokensDir), name)
}

// nameKey: names differ by more than case, since their files would be one on some systems.
func nameKey(name string) string { return strings.ToLower(name) }

// mintNames makes the tokens of all names, each in its own file. e.act must be held.
func (e *endpoint) mintNames(ctx context.Context) error {
	e.dropNames() // what a killed app left is not taken for ours
	names, err := e.names(ctx)
	if err != nil {
		return err
	}
	for _, g := range names {
		if err := e.mintName(g); err != nil {
			return err
		}
	}
	return nil
}

// mintName makes the token of one name. e.act must be held.
func (e *endpoint) mintName(g core.NamedGrant) error {
	if err := e.makeTokensDir(); err != nil {
		return err
	}
	revoke, err := e.mintInto(e.nameFile(g.Name), g.Grant)
	if err == nil {
		e.named[nameKey(g.Name)] = revoke
	}
	return err
}

// dropNames ends the tokens of all names and removes their files, and those that a killed app left. e.act must be held.
func (e *endpoint) dropNames() {
	for name, revoke := range e.named {
		revoke()
		delete(e.named, name)
	}
	dir := e.dir.File(datadir.TokensDir)
	if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
		return // what a link leads to is not ours to clear
	}
	entries, err := os.ReadDir(dir)
	for _, f := range entries {
		if !f.IsDir() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	if err != nil {
		e.log.Error("mcp: the files of tokens could not be removed", "err", err)
	}
}

// makeTokensDir makes the folder of the files, closed to others. A link in its place is refused: it would put the tokens
// where somebody else may read them.
func (e *endpoint) makeTokensDir() error {
	dir := e.dir.File(datadir.TokensDir)
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		var st fs.FileInfo
		switch st, err = os.Lstat(dir); {
		case err == nil && !st.IsDir():
			err = errors.New("it is no folder")
		case err == nil && st.Mode().Perm() != 0o700:
			err = os.Chmod(dir, 0o700)
		}
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The folder %s for tokens cannot be made", dir).
			WithHint("Check its permissions and the free space, and take away what is in its place.")
	}
	return nil
}
