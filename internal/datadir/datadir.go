// Package datadir finds, makes and locks the folder that holds the whole profile.
package datadir

import "context"

// Dir is a locked data folder.
type Dir struct{ Path string }

// Names of the files of the data folder.
const (
	SettingsFile = "settings.toml"
	DatabaseFile = "termic.db"
	SocketFile   = "termic.sock"
	CLITokenFile = "cli-token"
	MCPTokenFile = "mcp-token"
	MCPPortFile  = "mcp-port"
	TokensDir    = "tokens"
	LockFile     = "termic.lock"
)

// Find returns the data folder without touching it. getenv reads the environment (os.Getenv).
func Find(getenv func(string) string) (string, error) { panic("pending") }

// Open makes the folder (0700) and takes its lock; held by another process: fault.Conflict, data pid, and a Holder.
func Open(ctx context.Context, path string, holder Holder) (*Dir, error) { panic("pending") }
func (d *Dir) Close() error                                              { panic("pending") }
func (d *Dir) File(name string) string                                   { panic("pending") }

// Holder says who holds the folder.
type Holder struct {
	PID  int    `json:"pid"`
	Face string `json:"face"` // window, serve
}

// HeldBy tells who holds the folder at path, if anybody does.
func HeldBy(path string) (Holder, bool, error) { panic("pending") }
