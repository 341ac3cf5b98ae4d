package sandbox

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A gitView is how a linked worktree's cage sees the common folder of its repository.
//
// In the place of the common folder stands a folder of the cage's own, made for one start. Mounted into it are what the
// work needs to write and others see: objects, refs, their logs (not that of the main checkout's HEAD, by which git there
// finds what was lost and where "-" leads); and, read-only, the folder of all worktrees, with the task's own one writable. Everything else in it is a link into a read-only mount of the real folder elsewhere in the cage,
// so that changes outside are seen at once and nothing can be changed from inside. What the cage creates beside them stays
// with the cage.
//
// No links and pipes can be made anywhere in it: git outside appends to a log of refs through a link, whatever it leads to,
// and waits for a pipe. See plainWay for what that costs in the private home.
//
// packed-refs is special. Git takes its lock beside the file that the name leads to, and follows five links for that; it
// takes the lock whenever a ref is deleted, also when that ref is not packed. So there are more than five links: the lock
// is made in the cage's own folder, and the file that is read is the real one. Git then writes the new file under the name
// of the lock with .new behind it, which is taken by a folder: deleting a packed ref and packing refs fail, and nothing is
// lost.
type gitView struct {
	dir    string // on the host, in the data folder
	common string // the place in which it stands
	mounts []Mount
}

// realGit is where a cage finds the real common folder, read-only.
const realGit = "/.termic/git"

// Outside is what a path in the cage is called outside, where that differs and a person would look for it: the repository's
// folder, which the cage has at a place of its own.
func (p Policy) Outside(path string) string {
	if rest, ok := strings.CutPrefix(path, realGit); ok && p.gitView != nil && (rest == "" || rest[0] == '/') {
		return p.gitView.common + rest
	}
	return path
}

// lastOfChain is read by people, in git's message about the file that it cannot make.
const lastOfChain = "packed-refs-are-read-only-in-a-cage"

// chainLength is one more than the links that git follows to place a lock (MAXDEPTH in its lockfile.c).
const chainLength = 6

// sharedDirs are written by every worktree. Those that are missing are made, but for the optional ones.
var (
	sharedDirs         = []string{"objects", "refs", "logs/refs"}
	optionalSharedDirs = []string{"lfs"}
)

// headLog is the log of the main checkout's HEAD. It stands among the logs of refs, which every worktree writes.
const headLog = "logs/HEAD"

// privateNames are files that may come into being later, and that the cage shall then see. A link that leads nowhere is to
// git as if the file were not there.
var privateNames = []string{"config", "config.worktree", "HEAD", "index", "shallow", "description", "hooks", "info", "modules",
	"ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_HEAD", "AUTO_MERGE", "FETCH_HEAD"}

// viewOf plans the view of a common folder.
func (c *composer) viewOf(common, admin string) *gitView {
	v := &gitView{dir: c.w.GitView, common: common}
	if v.dir == "" {
		v.dir = c.w.HomeDir + ".git/" + rand.Text()
	}
	v.mounts = []Mount{{Source: v.dir, Target: common, Write: true, Plain: true}, {Source: common, Target: realGit}}
	taken := []string{"worktrees", "packed-refs", "logs"}
	for _, name := range sharedDirs {
		c.prepare = append(c.prepare, preparation{root: common, path: name, dir: true})
		v.share(c, name, true)
		taken = append(taken, name)
	}
	for _, name := range optionalSharedDirs {
		if exists(filepath.Join(common, name)) {
			v.share(c, name, true)
			taken = append(taken, name)
		}
	}
	v.share(c, "worktrees", false)
	v.mounts = append(v.mounts, Mount{Source: admin, Target: admin, Write: true})
	for _, name := range sorted(append(children(common), privateNames...)) {
		if !slices.Contains(taken, name) {
			v.link(c, name, filepath.Join(realGit, name))
		}
	}
	v.link(c, headLog, filepath.Join(realGit, headLog))
	name := "packed-refs"
	for i := 1; i < chainLength; i++ {
		next := "packed-refs." + strconv.Itoa(i)
		if i == chainLength-1 {
			next = lastOfChain
		}
		v.link(c, name, next)
		name = next
	}
	v.link(c, name, filepath.Join(realGit, "packed-refs"))
	c.prepare = append(c.prepare, preparation{root: v.dir, path: lastOfChain + ".new/taken", dir: true})
	c.plainWay(common)
	return v
}

// homeFolders are where programs keep what has links in it, such as the commands of installed packages.
var homeFolders = []string{".bun", ".cache", ".cargo", ".config", ".deno", ".gem", ".gradle", ".local", ".npm", ".nvm", ".pyenv", ".rustup", ".yarn", "bin", "go"}

// plainWay makes folders in a private home where a plain mount will stand: links can be made below what is there when the
// cage starts, but not in the home itself, nor in a folder that is made in it later.
func (c *composer) plainWay(common string) {
	if !above(c.w.Home, common) {
		return
	}
	for _, name := range homeFolders {
		if _, err := os.Lstat(filepath.Join(c.w.HomeDir, name)); err != nil { // what is there may be a cage's
			c.prepare = append(c.prepare, preparation{root: c.w.HomeDir, path: name, dir: true})
		}
	}
}

// share mounts a folder of the real one.
func (v *gitView) share(c *composer, name string, write bool) {
	c.prepare = append(c.prepare, preparation{root: v.dir, path: name, dir: true})
	at := filepath.Join(v.common, name)
	v.mounts = append(v.mounts, Mount{Source: at, Target: at, Write: write})
}

func (v *gitView) link(c *composer, name, to string) {
	c.prepare = append(c.prepare, preparation{root: v.dir, path: name, link: to})
}
