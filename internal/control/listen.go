package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"termic/internal/datadir"
	"termic/internal/fault"
	"termic/internal/secret"
)

// MaxSocketPath is the longest path that every system's sockaddr_un takes, in bytes: 104 with its final zero on macOS.
const MaxSocketPath = 103

// Address is where a client finds the app.
type Address struct {
	Socket string
	Token  string // path of the token file
}

// AddressIn is the address of the app on a data folder.
func AddressIn(dir string) Address {
	return Address{Socket: filepath.Join(dir, datadir.SocketFile), Token: filepath.Join(dir, datadir.CLITokenFile)}
}

// AddressAt is the address of an app whose socket is known; its token lies beside it.
func AddressAt(socket string) Address {
	return Address{Socket: socket, Token: filepath.Join(filepath.Dir(socket), datadir.CLITokenFile)}
}

// bind makes the socket. A socket that lies there is one that a killed app left: the caller holds the lock of the
// folder, so nobody listens on it.
func bind(ctx context.Context, path string) (*net.UnixListener, error) {
	if len(path) > MaxSocketPath {
		return nil, fault.New(fault.InvalidArgument, "The path of the control socket is %d bytes long; systems take at most %d: %s", len(path), MaxSocketPath, path).
			WithHint("Set TERMIC_DATA_DIR to a shorter path.")
	}
	switch st, err := os.Lstat(path); {
	case err == nil && st.Mode().Type() != fs.ModeSocket:
		return nil, fault.New(fault.Conflict, "%s is in the way: it is not a socket", path).WithHint("Move it away and start again.")
	case err == nil:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove stale socket: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("look for stale socket: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The control socket could not be opened at %s", path)
	}
	ul := l.(*net.UnixListener)
	ul.SetUnlinkOnClose(false) // Close removes it itself, and only if it is still ours
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ul.Close(), os.Remove(path))
	}
	return ul, nil
}

// writeToken puts the token in place as a new file: a descriptor on the old one shows the old token for ever.
func writeToken(path string, token secret.String) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return fmt.Errorf("token file: %w", err)
	}
	_, err = f.WriteString(token.Reveal() + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("token file: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// ownFile is a file that this process made and removes again, unless another has taken its place.
type ownFile struct {
	path string
	stat fs.FileInfo
}

func own(path string) (ownFile, error) {
	st, err := os.Lstat(path)
	return ownFile{path, st}, err
}

func (o ownFile) remove() error {
	st, err := os.Lstat(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// The number of a file that is gone is given to the next one, so the time of writing is compared as well.
	if !os.SameFile(st, o.stat) || !st.ModTime().Equal(o.stat.ModTime()) || st.Mode() != o.stat.Mode() {
		return nil
	}
	return os.Remove(o.path)
}
