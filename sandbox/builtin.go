package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"

	"termic/internal/fault"
)

// systemRoots are readable in every cage: programs, their libraries and the machine's settings. What is not on a machine
// is left out. The stores of Nix and Guix hold the system's programs where those are used.
var systemRoots = map[string][]string{
	"linux": {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/nix/store", "/gnu/store"},
	// Canonical names: seatbelt judges what a path really is.
	"darwin": {"/usr", "/opt", "/bin", "/sbin", "/private/etc", "/System/Library", "/System/Volumes/Preboot/Cryptexes",
		"/private/var/db/dyld", "/private/var/db/timezone", "/Library/Developer/CommandLineTools"},
}

// secretsOfSystem lie in the system roots of Linux and are hidden, since a cage of root would otherwise read them.
var secretsOfSystem = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers",
	"/etc/sudoers.d", "/etc/ssl/private", "/etc/ssh/ssh_host_*_key", "/etc/pki/tls/private", "/etc/security/opasswd"}

// secretsOfMac are the same on macOS, where a denial needs nothing to be there.
var secretsOfMac = []string{"/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc/sudoers.d", "/private/etc/ssh/ssh_host_rsa_key",
	"/private/etc/ssh/ssh_host_ecdsa_key", "/private/etc/ssh/ssh_host_ed25519_key", "/private/etc/security/audit_control"}

// agentHosts are the hosts that an agent's own service needs, by the agent's id. Telemetry is not among them: an agent
// works without it. Other providers' hosts are for the owner to add.
var agentHosts = map[string][]string{
	"claude":   {"anthropic.com", "*.anthropic.com", "claude.ai", "*.claude.ai", "claude.com", "*.claude.com"},
	"codex":    {"openai.com", "*.openai.com", "chatgpt.com", "*.chatgpt.com"},
	"gemini":   {"accounts.google.com", "oauth2.googleapis.com", "generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "aiplatform.googleapis.com"},
	"opencode": {"opencode.ai", "*.opencode.ai", "models.dev"},
	"copilot":  {"githubcopilot.com", "*.githubcopilot.com", "api.github.com"}, // the last one gives it its token
	"grok":     {"x.ai", "*.x.ai", "grok.com", "*.grok.com"},
}

// Group is a named list for the hosts of a layer, written with an @.
type Group struct {
	Name, Doc string // one sentence without its full stop
	Hosts     []string
}

// Groups are the lists that are the same on every machine. Whoever may reach a code forge can publish there what it reads.
func Groups() []Group {
	return []Group{
		{Name: "@forges", Doc: "Code forges; what the agent reads it can publish there",
			Hosts: []string{"github.com", "api.github.com", "codeload.github.com", "*.githubusercontent.com", "gitlab.com", "bitbucket.org", "api.bitbucket.org", "codeberg.org"}},
		{Name: "@minimal", Doc: "Nothing beside what the agent itself needs", Hosts: []string{}},
	}
}

// Preset returns the host rules of a named list, such as "@forges".
func Preset(name string) ([]string, bool) {
	for _, g := range Groups() {
		if g.Name == name {
			return g.Hosts, true
		}
	}
	return nil, false
}

// system grants what every program of the machine needs.
func (c *composer) system() error {
	for _, root := range systemRoots[c.w.GOOS] {
		if c.w.GOOS == "darwin" {
			c.grants = append(c.grants, grant{root, false, plain})
			continue
		}
		real, links, err := resolve(root)
		if missing(err) {
			continue
		}
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "The cage cannot be built: %s cannot be looked at", root)
		}
		c.links = append(c.links, links...)
		c.grants = append(c.grants, grant{real, false, plain})
	}
	switch c.w.GOOS {
	case "linux":
		c.secrets()
		c.names()
	case "darwin":
		c.deny = append(c.deny, secretsOfMac...)
	}
	return nil
}

// secrets hides what lies in the system roots and can be read by us, but not by everybody.
func (c *composer) secrets() {
	for _, pattern := range secretsOfSystem {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		for _, p := range found {
			if real, _, err := resolve(p); err == nil && readable(real) {
				c.deny = append(c.deny, real)
			}
		}
	}
	// Programs keep passwords in more places of /etc than a list can name. What is not for everybody is a secret: root, or
	// somebody in the right group, could read it, and so could the cage.
	_ = filepath.WalkDir("/etc", func(p string, d fs.DirEntry, err error) error { // what cannot be listed cannot be read in a cage either
		if err != nil || !d.IsDir() && !d.Type().IsRegular() {
			return nil
		}
		st, err := d.Info()
		if err != nil || st.Mode()&0o004 != 0 || !readable(p) {
			return nil
		}
		c.private = append(c.private, p)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// names grants the resolver's file where /etc/resolv.conf is a link to a place outside the system roots. A cage with a
// network of its own asks no resolver.
func (c *composer) names() {
	if c.w.Mode == Enforce {
		return
	}
	if real, links, err := resolve("/etc/resolv.conf"); err == nil {
		c.links = append(c.links, links...)
		c.grants = append(c.grants, grant{real, false, plain})
	}
}

func readable(p string) bool {
	f, err := os.Open(p)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// children returns the names in a folder, sorted; none where it cannot be read.
func children(dir string) []string {
	list, _ := os.ReadDir(dir) // what cannot be listed grants nothing
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}
