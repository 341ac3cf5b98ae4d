package clientsetup

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"termic/internal/api"
	"termic/internal/fault"
)

// Name is what our entry is called in every client. Claude Code allows letters, digits, - and _.
const Name = "termic"

// TokenHeader carries the token. It is not Authorization, which some versions of Codex do not take from a command.
const TokenHeader = "X-Termic-Token"

// Revision is the revision of the Model Context Protocol that the endpoint speaks, the only one.
const Revision = api.MCPRevision

// ToolTimeout is how long a client waits for one call of a tool. The longest wait of a tool is 300 s, and clients give up
// after 60 s (Claude Code 2.1.332) or at 300 s exactly (Codex 0.171.0) unless told otherwise.
const ToolTimeout = 600 * time.Second

// Entry is what a registration says: where the endpoint is, and how a client gets the token.
type Entry struct {
	URL       string // http://127.0.0.1:PORT/mcp
	Folder    string // the data folder, absolute
	TokenFile string // absolute
	Command   string // for a POSIX shell: prints the headers as one JSON object, with the token in TokenHeader
	Bearer    string // the same, with the token in Authorization
}

// NewEntry makes the entry of the endpoint at address, whose token is in tokenFile below the data folder. The command is
// the plain one, [TokenCommand]. It fails with fault.Unsupported if a client's file could not hold the path.
func NewEntry(address, folder, tokenFile string) (Entry, error) {
	e := Entry{URL: address, Folder: folder, TokenFile: tokenFile, Command: TokenCommand(tokenFile, false), Bearer: TokenCommand(tokenFile, true)}
	return e, e.check()
}

// ByTermic returns the entry with `termic mcp headers` as its command, for a person whose shell cannot be trusted with
// [TokenCommand]. binary is absolute.
func (e Entry) ByTermic(binary string) (Entry, error) {
	if !filepath.IsAbs(binary) {
		return e, fault.New(fault.InvalidArgument, "%q is not the absolute path of a program", binary)
	}
	e.Command, e.Bearer = TermicCommand(binary, e.Folder, false), TermicCommand(binary, e.Folder, true)
	return e, e.check()
}

func (e Entry) check() error {
	if !ourURL(e.URL) {
		return fault.New(fault.InvalidArgument, "%q is not the address of an MCP endpoint on this machine", e.URL)
	}
	for _, path := range []string{e.Folder, e.TokenFile} {
		if !filepath.IsAbs(path) {
			return fault.New(fault.InvalidArgument, "%q is not an absolute path", path)
		}
	}
	for _, text := range []string{e.Folder, e.TokenFile, e.Command, e.Bearer} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fault.New(fault.Unsupported, "The path %q cannot be written into a client's file, which holds only UTF-8", e.TokenFile).
				WithHint("Move the data folder to a path of ordinary characters (TERMIC_DATA_DIR), then register again.")
		}
	}
	return nil
}

// ourURL reports whether an address has the form of our endpoint's.
func ourURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.Path != "/mcp" || u.RawQuery != "" || u.User != nil || u.Port() == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}
