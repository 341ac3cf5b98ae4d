package sandbox

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termic/internal/fault"
)

// maxInterpreters bounds the chain of scripts that run scripts.
const maxInterpreters = 8

// maxShebang is what the kernel reads of a script's first line (BINPRM_BUF_SIZE).
const maxShebang = 256

// program grants reading of the tools on PATH and of everything that the agent's program is made of.
func (c *composer) program() error {
	for _, dir := range c.w.Path {
		if filepath.IsAbs(dir) && exists(dir) && !c.tool(dir) { // a PATH often names folders that are not there
			c.warn("%q is on your PATH and cannot be shown to a cage without showing more than programs.", dir)
		}
	}
	if c.w.Program == "" {
		return nil
	}
	if !filepath.IsAbs(c.w.Program) {
		return fault.New(fault.Unavailable, "The agent's program %q cannot be found", c.w.Program)
	}
	at := c.w.Program
	for range maxInterpreters {
		real, links, err := resolve(at)
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "The agent's program %q cannot be found", at)
		}
		if c.planted(real, links) {
			return fault.New(fault.Unavailable, "On the way to the agent's program %q there is a link in a folder that the agent may write: it leads to %q", at, real).
				WithHint("The agent may have made it. Put back what was there.")
		}
		c.links = append(c.links, links...)
		for _, l := range links {
			c.tool(filepath.Dir(l.Path))
		}
		if root := packageRoot(real); !c.tool(root) || !covers(root, real) {
			c.grants = append(c.grants, grant{real, false, plain})
		}
		if c.writable(real) {
			return nil // its first line may be the agent's, and names no program of the user's
		}
		if at = c.interpreter(real); at == "" {
			return nil
		}
	}
	return fault.New(fault.Unavailable, "The agent's program %q is a script of a script of a script, without an end", c.w.Program)
}

// tool grants a folder of programs, with what belongs to them where the folder's name tells it. It reports whether it
// could without granting more than programs.
func (c *composer) tool(dir string) bool {
	real, links, err := resolve(dir)
	if err != nil || c.planted(real, links) {
		return false
	}
	wide := real
	if slices.Contains([]string{"bin", "sbin", "shims"}, filepath.Base(real)) {
		wide = filepath.Dir(real)
	}
	for _, p := range []string{wide, real} {
		if c.harmless(p) {
			c.links = append(c.links, links...)
			c.grants = append(c.grants, grant{p, false, plain})
			return true
		}
	}
	return false
}

// harmless reports whether a folder of programs can be granted: it is not the home, nothing above it, not the folder in
// which programs keep their data, and nothing of Termic's.
func (c *composer) harmless(p string) bool {
	return c.special(p) == "" && !covers(p, c.w.Home) && p != filepath.Join(c.w.Home, ".local") &&
		!covers(p, c.w.DataDir) && !covers(c.w.DataDir, p) && !covers(p, c.w.Worktree)
}

// packageRoot is the folder that a program needs around it: the outermost node_modules that it lies in, or its own folder.
func packageRoot(real string) string {
	parts := strings.Split(real, "/")
	if i := slices.Index(parts, "node_modules"); i > 0 {
		return strings.Join(parts[:i+1], "/")
	}
	return filepath.Dir(real)
}

// interpreter returns the absolute path of the program that runs a script, or nothing when the file is none.
func (c *composer) interpreter(real string) string {
	f, err := os.Open(real)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxShebang)).ReadString('\n')
	if err != nil && err != io.EOF || !strings.HasPrefix(line, "#!") {
		return ""
	}
	words := strings.Fields(line[2:])
	if len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	for _, w := range words[1:] {
		if w == "-S" || strings.Contains(w, "=") {
			continue
		}
		return c.lookup(w)
	}
	return ""
}

// lookup finds a program on the PATH of the wish.
func (c *composer) lookup(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	for _, dir := range c.w.Path {
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); filepath.IsAbs(dir) && err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}
