package sandbox

import (
	"io/fs"
	"os"
)

// sshAgent grants the socket of the user's ssh agent: whoever reaches it can log in wherever the user's keys can. That it
// does not run is no reason to refuse a start, since it comes and goes with logins.
func (c *composer) sshAgent(l Layer, write bool) {
	real, links, err := resolve(c.w.SSHAgent)
	switch {
	case !l.Owner || !write:
		c.warn("%s names the ssh agent. Only a list for writing that you write yourself can grant it, so it stays hidden.", l.Name)
		return
	case c.w.SSHAgent == "" || err != nil:
		c.warn("%s grants the ssh agent, and none runs here.", l.Name)
		return
	case covers(c.w.DataDir, real) || c.workspace(real):
		c.warn("%s grants the ssh agent, whose socket %q lies where it cannot be shown.", l.Name, real)
		return
	}
	if st, err := os.Lstat(real); err != nil || st.Mode().Type() != fs.ModeSocket {
		c.warn("%s grants the ssh agent, and %q is no socket.", l.Name, real)
		return
	}
	c.warn("%s grants the ssh agent: the caged agent can log in wherever your keys can.", l.Name)
	c.named, c.links = real, append(c.links, links...)
	c.grants = append(c.grants, grant{real, true, plain})
}
