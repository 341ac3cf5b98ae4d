package worktree

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"termic/internal/fault"
)

// DiscardPrefix is where what was discarded is kept, as <prefix><owner>/<id>.
const DiscardPrefix = "refs/termic/discarded/"

// Keeping says how an act keeps what it takes away.
type Keeping struct {
	Ref string // new, below DiscardPrefix
	// Kept is called once everything is kept and before anything is taken away. If it fails, nothing is. nil: nobody notes it.
	Kept func(Discarded) error
}

// Discarded is what was taken away, and is kept.
type Discarded struct {
	Ref, Commit string // "" when nothing was lost that would have to be kept
	Paths       []string
	Warnings    []string
}

// DiscardOptions say what to take away.
type DiscardOptions struct {
	Choice
	Staged bool // what is staged as well: the files become as HEAD has them
	Keeping
}

// half is a file as the index or the disk has it.
type half struct {
	Mode   string `json:"mode"` // git's; "0": it is not there
	ID     string `json:"id,omitempty"`
	Intent bool   `json:"intent,omitempty"` // the index only notes that it will come
}

// piece is one file of a discard, before and after it.
type piece struct {
	Path  []byte   `json:"path"`
	Index [2]half  `json:"index"`
	File  *[2]half `json:"file,omitempty"` // nil: it is left alone
}

func (p piece) path() string { return string(p.Path) }

// discard is a Discard or an Unstage under way.
type discard struct {
	*change
	k        Keeping
	pieces   []piece
	restages bool // the index changes
	loses    bool // a content would be nowhere
	stamps   map[string]stamp
	warnings []string
	tmp      *os.Root // below the folder of the index: the files as they will be
}

// Discard takes back what was changed in the chosen files: each becomes as it is staged, or with Staged as HEAD has it; a
// file that neither has goes. Before that, the files byte for byte, what the index had of them, their executable bits and
// links are kept as a commit under Keeping.Ref, from which Undo puts back exactly that. Filters run where they run for the
// rest (see Plain), hooks do not.
//
// A file that changes while it is discarded, or is not as it was seen (data.changed), is fault.Conflict, and so are files
// with a conflict, files that only have staged changes, and ones in whose place something else lies. Submodules and nested
// repositories are fault.Unsupported. After an error everything is as it was.
func (r *Repo) Discard(ctx context.Context, wt string, o DiscardOptions) (Discarded, error) {
	return changing(ctx, r, wt, func(c *change) (Discarded, error) {
		d := &discard{change: c, k: o.Keeping, restages: o.Staged}
		if err := d.look(); err != nil {
			return Discarded{}, err
		}
		if err := d.choose(ctx, o); err != nil || len(d.pieces) == 0 {
			return Discarded{Warnings: d.warnings}, err
		}
		return d.run(ctx)
	})
}

// tick is longer than the time of a file stands still between two changes of it, on every system that is known: a file
// whose last change is older has another time after the next.
const tick = 20 * time.Millisecond

// looks is how often files that change all the time are looked at before it is left at that.
const looks = 3

// look notes how the changed files stand before anything is read.
func (d *discard) look() error {
	for try := 1; ; try++ {
		fresh := false
		d.stamps = map[string]stamp{}
		for name := range d.files {
			st, err := lstat(d.root, name)
			if err != nil {
				return unreadable(err, name)
			}
			if st == nil {
				continue
			}
			s := stampOf(st)
			d.stamps[name] = s
			fresh = fresh || time.Since(time.Unix(0, max(s.change, s.written))).Abs() < tick
		}
		if !fresh || try == looks {
			return nil
		}
		time.Sleep(tick)
	}
}

func (d *discard) choose(ctx context.Context, o DiscardOptions) error {
	can := func(f *changedFile) bool { return f.unstaged || o.Staged && f.staged }
	files, err := d.pick(ctx, o.Choice, can, func(f *changedFile) error {
		return fault.New(fault.Conflict, "%s has only staged changes", printable(f.path, 200)).
			WithHint("Unstage it, or discard what is staged as well.").WithData("staged", true)
	})
	if err != nil {
		return err
	}
	for _, f := range files {
		switch {
		case f.conflict:
			return conflictRefused(f)
		case f.nested && exactly(o.Choice, f):
			return nestedRefused(f)
		case f.submodule && exactly(o.Choice, f):
			return submoduleRefused(f)
		case f.nested:
			d.warnings = append(d.warnings, printable(f.path, 200)+" is a repository of its own and was left alone")
			continue
		case f.submodule:
			d.warnings = append(d.warnings, printable(f.path, 200)+" is a submodule and was left alone")
			continue
		}
		if kind, err := d.fileKind(f.path); err != nil {
			return err
		} else if kind == "odd" {
			return fault.New(fault.Unsupported, "%s is neither file nor link, so it cannot be kept", printable(f.path, 200)).WithHint("Delete it in a terminal of the task.")
		}
		p := piece{Path: []byte(f.path), Index: [2]half{halfOf(f), halfOf(f)}, File: &[2]half{}}
		switch {
		case o.Staged:
			p.Index[1] = half{Mode: f.head.mode, ID: f.head.id}
		case f.intent:
			p.Index[1], d.restages = half{Mode: "0"}, true
		}
		d.pieces = append(d.pieces, p)
	}
	d.loses = true
	return nil
}

func halfOf(f *changedFile) half {
	if f.intent {
		return half{Mode: "0", Intent: true}
	}
	return half{Mode: f.index.mode, ID: f.index.id}
}

// run keeps and takes away what was chosen.
func (d *discard) run(ctx context.Context) (Discarded, error) {
	out := Discarded{Warnings: d.warnings}
	for _, p := range d.pieces {
		out.Paths = append(out.Paths, p.path())
	}
	if err := d.prepare(ctx); err != nil {
		return Discarded{}, err
	}
	defer d.tmp.Close()
	if d.loses {
		commit, err := d.keep(ctx)
		if err != nil {
			return Discarded{}, err
		}
		out.Ref, out.Commit = d.k.Ref, commit
	}
	if err := d.hold(ctx); err != nil {
		return Discarded{}, err
	}
	if err := d.unmoved(); err != nil {
		return Discarded{}, err
	}
	if err := d.note(ctx, out); err != nil {
		return Discarded{}, err
	}
	// From here on it is carried through, or taken back.
	ctx = context.WithoutCancel(ctx)
	err := d.takeAway(ctx)
	if err == nil && d.restages {
		err = d.install()
	}
	if err != nil && out.Ref != "" {
		d.r.dropDiscard(ctx, out)
		return Discarded{}, err
	}
	return out, err
}

// note makes the ref, and tells whoever keeps account.
func (d *discard) note(ctx context.Context, out Discarded) error {
	if out.Ref == "" {
		return nil
	}
	if !strings.HasPrefix(out.Ref, DiscardPrefix) {
		return fault.New(fault.InvalidArgument, "%q is no name for what is discarded", printable(out.Ref, 200))
	}
	_, err := d.r.git.run(ctx, command{at: d.r.here(), args: []string{"update-ref", out.Ref, out.Commit, d.r.zeros}, writes: true})
	if err != nil {
		return err
	}
	if d.k.Kept == nil {
		return nil
	}
	if err := d.k.Kept(out); err != nil {
		d.r.dropDiscard(context.WithoutCancel(ctx), out)
		return err
	}
	return nil
}

func (r *Repo) dropDiscard(ctx context.Context, out Discarded) {
	if err := r.DropDiscard(ctx, out.Ref, out.Commit); err != nil {
		r.git.log.WarnContext(ctx, "a ref of a discard that did not happen stays", "ref", out.Ref, "err", err)
	}
}

// prepare makes the index and the files as they will be, beside those that are.
func (d *discard) prepare(ctx context.Context) (err error) {
	dir := filepath.Join(filepath.Dir(d.index), "files")
	if err = os.Mkdir(dir, 0o700); err == nil {
		d.tmp, err = os.OpenRoot(dir)
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "No temporary folder could be made")
	}
	if err = d.newIndex(ctx); err == nil {
		err = d.newFiles(ctx, dir)
	}
	if err != nil {
		_ = d.tmp.Close()
	}
	return err
}

func (d *discard) newIndex(ctx context.Context) error {
	if !d.restages {
		return nil
	}
	var add []entry
	have, moving := map[string]bool{}, map[string]bool{}
	for _, p := range d.pieces {
		add = append(add, entry{p.Index[1].Mode, p.Index[1].ID, p.path()})
		moving[p.path()] = true
	}
	for name, f := range d.files { // whatever HEAD has too is in nobody's way
		have[name] = f.index.mode != "0" && f.head.mode == "0"
	}
	if name, other := inTheWay(add, have, moving); name != "" {
		return blockedBy(name, other)
	}
	return d.r.updateIndex(ctx, d.at, d.index, add)
}

// newFiles has git write the files that stay, with whatever it does to them on their way out of the repository.
func (d *discard) newFiles(ctx context.Context, dir string) error {
	var names []string
	for _, p := range d.pieces {
		if p.File != nil && p.Index[1].Mode != "0" {
			names = append(names, p.path())
		}
	}
	if len(names) > 0 {
		_, err := d.r.git.run(ctx, command{at: d.at, index: d.index, stdin: nulls(names), writes: true, timeout: d.r.git.createTimeout,
			args: []string{"checkout-index", "--force", "-z", "--stdin", "--prefix=" + filepath.ToSlash(dir) + "/"}})
		if exitOf(err) >= 0 {
			return fault.Wrap(err, fault.Unavailable, "The files could not be read from the repository").WithHint("git says: %s", said(err))
		}
		if err != nil {
			return err
		}
	}
	for _, p := range d.pieces {
		if p.File == nil {
			continue
		}
		e, err := d.r.fileNow(d.tmp, p.path())
		if err != nil {
			return err
		}
		if p.Index[1].Mode != "0" && e.mode == "0" {
			return fault.New(fault.Unavailable, "git did not give back %s", printable(p.path(), 200))
		}
		p.File[1] = half{Mode: e.mode, ID: e.id}
	}
	return nil
}

// keptNotes is the file of a kept commit that says what was where; beside it are the folders of the contents.
const (
	keptNotes = "termic.json"
	keptFiles = "file/"
	keptIndex = "index/"
)

// keep stores everything that is about to go, and returns the commit that holds it.
func (d *discard) keep(ctx context.Context) (string, error) {
	tmp := filepath.Join(filepath.Dir(d.index), "kept")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "No temporary folder could be made")
	}
	var names []string
	at := map[string]int{}
	for i, p := range d.pieces {
		if p.File != nil {
			names, at[p.path()] = append(names, p.path()), i
		}
	}
	files, err := d.r.storeFiles(ctx, d.at, names, tmp)
	if err != nil {
		return "", err
	}
	var all []entry
	for _, e := range files {
		d.pieces[at[e.path]].File[0] = half{Mode: e.mode, ID: e.id}
		if e.mode != "0" {
			all = append(all, entry{e.mode, e.id, keptFiles + e.path})
		}
	}
	for _, p := range d.pieces {
		if h := p.Index[0]; h.Mode != "0" {
			all = append(all, entry{h.Mode, h.ID, keptIndex + p.path()})
		}
	}
	text, err := json.Marshal(d.pieces)
	if err != nil {
		return "", err
	}
	notes, err := d.r.git.text(ctx, command{at: d.r.here(), args: []string{"hash-object", "-w", "--stdin"}, stdin: bytes.NewReader(text), writes: true})
	if err != nil {
		return "", err
	}
	index := filepath.Join(tmp, "index")
	if err := d.r.updateIndex(ctx, d.r.here(), index, append(all, entry{"100644", notes, keptNotes})); err != nil {
		return "", err
	}
	tree, err := d.r.git.text(ctx, command{at: d.r.here(), index: index, args: []string{"write-tree"}, writes: true})
	if err != nil {
		return "", err
	}
	return d.r.commitTree(ctx, d.r.here(), tree, d.message(), nil)
}

func (d *discard) message() string {
	what := "1 file"
	if n := len(d.pieces); n != 1 {
		what = fmt.Sprintf("%d files", n)
	}
	return fmt.Sprintf("Termic: %s that were discarded\n\nThe files as they were are in %s, what was staged of them in %s.\n", what, keptFiles, keptIndex)
}

// DropDiscard deletes a ref of something that was discarded. One that is gone, or leads elsewhere by now, is left alone.
func (r *Repo) DropDiscard(ctx context.Context, ref, commit string) error {
	if !strings.HasPrefix(ref, DiscardPrefix) {
		return fault.New(fault.InvalidArgument, "%q is no ref of something that was discarded", printable(ref, 200))
	}
	_, err := r.git.run(ctx, command{at: r.here(), args: []string{"update-ref", "-d", ref, commit}, writes: true})
	if exitOf(err) >= 0 {
		return nil
	}
	return err
}

// Unlock takes git's lock of a checkout's index away that an app which was killed has left.
func (r *Repo) Unlock(wt string) error {
	at, err := r.in(wt)
	if err != nil {
		return err
	}
	admin, err := os.OpenRoot(at.gitDir)
	if err != nil {
		return err
	}
	defer admin.Close()
	if err := admin.Remove(indexLock); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
