package clientsetup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	udiff "github.com/aymanbagabas/go-udiff"

	"termic/internal/atomicfile"
	"termic/internal/fault"
)

// editor changes a client's file. All of it is pure: bytes in, bytes out.
type editor interface {
	// parse finds our entry and what stands around it.
	parse(doc []byte) (facts, error)
	// set makes the entry want, of which order is what we write; have is what parse found.
	set(doc []byte, have, want map[string]any, order []field) ([]byte, error)
	// cut takes the entry out and puts former in its place, if there is one.
	cut(doc []byte, was Was, former map[string]any) ([]byte, error)
	// pack and unpack write down an entry by itself, in the client's language, and read it.
	pack(entry map[string]any) ([]byte, error)
	unpack(text []byte) map[string]any
	// outside fails if two documents do not mean the same outside of our entry.
	outside(before, after []byte) error
}

// facts is what parse found.
type facts struct {
	entry map[string]any // nil: none
	ready bool           // the switches that the client needs are on
	was   Was            // what stands around the entry; of use only when there is none
}

// errOutside says that an edit of ours would have changed something else: a fault of ours, which is found before anything
// is written.
var errOutside = errors.New("the edit would change the meaning of something else")

// fileKind is a client whose file we edit ourselves.
type fileKind struct {
	client   Client
	programs []string // names of its program
	apps     []string // files or folders that show that it is here, without a program
	scrubbed bool     // it runs our command with few variables
	shape    shape
	file     func(p Place) string
	editor   editor
	lookMore func(p Place, doc []byte, st *State) // may be nil
	fallback func(p Place, file string, fields []field) Block
	notes    []string
}

func (k *fileKind) about() Client { return k.client }

func (k *fileKind) look(p Place, e Entry) State {
	st := State{Client: k.client, File: k.file(p), Receipt: p.receipt(k.client.ID)}
	st.Program = p.program(k.programs, k.apps)
	st.Installed = st.Program != ""
	doc, f, _, err := k.read(st.File)
	if err != nil {
		st.Problem = err
		return st
	}
	if f.entry != nil {
		st.Registered = true
		v := k.shape.judge(f.entry, e)
		st.Foreign, st.ByTermic, st.Edits, st.Stale = !v.ours, v.byTermic, v.edits, v.stale
	}
	if k.lookMore != nil {
		k.lookMore(p, doc, &st)
	}
	return st
}

// read reads and parses the client's file.
func (k *fileKind) read(file string) (doc []byte, f facts, missing bool, err error) {
	target, err := atomicfile.Resolve(file)
	if err == nil {
		doc, missing, err = readFile(target, maxConfig)
	}
	if err != nil {
		return nil, facts{}, false, unreadable(file, err)
	}
	if f, err = k.editor.parse(doc); err != nil {
		return nil, facts{}, false, unreadable(file, err)
	}
	return doc, f, missing, nil
}

func (k *fileKind) plan(_ context.Context, p Place, e Entry) (Plan, error) {
	file := k.file(p)
	doc, f, missing, err := k.read(file)
	if err != nil {
		return Plan{}, err
	}
	plan, err := k.edit(file, doc, f, e)
	if err != nil {
		return Plan{}, err
	}
	plan.Missing = missing
	if missing {
		plan.Notes = append(plan.Notes, "The file is new")
	}
	return k.finish(plan)
}

// edit is the pure part of plan.
func (k *fileKind) edit(file string, doc []byte, f facts, e Entry) (Plan, error) {
	want, order, err := k.shape.merged(f.entry, e)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Client: k.client, Act: ActAdd, Entry: e, File: file, Before: doc, After: doc, entry: want}
	switch v := k.shape.judge(f.entry, e); {
	case f.entry != nil && same(f.entry, want) && f.ready:
		plan.Act = ActNone
		return plan, nil
	case v.ours:
		plan.Act = ActRepair
	case f.entry != nil:
		plan.Act, plan.former = ActReplace, f.entry
		plan.Notes = append(plan.Notes, "The entry that has this name now is replaced; unregistering brings it back")
	}
	if plan.After, err = k.editor.set(doc, f.entry, want, order); err != nil {
		return Plan{}, unreadable(file, err)
	}
	if err := k.check(doc, plan.After, want); err != nil {
		return Plan{}, unreadable(file, err)
	}
	plan.Notes = append(plan.Notes, k.notes...)
	return plan, nil
}

// check reads an edited document again: our entry is what it should be, and nothing else means anything else.
func (k *fileKind) check(before, after []byte, want map[string]any) error {
	f, err := k.editor.parse(after)
	if err != nil {
		return err
	}
	if (f.entry == nil) != (want == nil) || !same(f.entry, want) || want != nil && !f.ready {
		return errOutside
	}
	return k.editor.outside(before, after)
}

// finish adds what is for people.
func (k *fileKind) finish(plan Plan) (Plan, error) {
	target, err := atomicfile.Resolve(plan.File)
	if err != nil {
		return Plan{}, unreadable(plan.File, err)
	}
	if plan.Target = target; target != plan.File {
		plan.Notes = append(plan.Notes, "The file is a link; written is "+target)
	}
	plan.Diff = udiff.Unified(plan.File, plan.File, string(plan.Before), string(plan.After))
	return plan, nil
}

func (k *fileKind) planRemove(_ context.Context, p Place, e Entry) (Plan, error) {
	file := k.file(p)
	doc, f, missing, err := k.read(file)
	if err != nil {
		return Plan{}, err
	}
	plan, err := k.editBack(file, doc, f, missing, p.receipt(k.client.ID), e)
	if err != nil {
		return Plan{}, err
	}
	return k.finish(plan)
}

// editBack is the pure part of planRemove.
func (k *fileKind) editBack(file string, doc []byte, f facts, missing bool, r *Receipt, e Entry) (Plan, error) {
	plan := Plan{Client: k.client, Act: ActRemove, Entry: e, File: file, Before: doc, After: doc, Missing: missing, entry: f.entry}
	if r.fits(file, doc) {
		plan.After, plan.Delete, plan.folder = r.Origin, r.Missing, r.Folder
		plan.former = k.editor.unpack(r.Former)
		return plan, nil
	}
	was := Was{}
	if r != nil && r.File == file {
		was, plan.former = r.Was, k.editor.unpack(r.Former)
	}
	if f.entry == nil && (was.Flag != flagNone || !f.ready) {
		plan.Act = ActNone // the entry is gone, and no switch of ours is left
		return plan, nil
	}
	if f.entry == nil {
		plan.former = nil // whoever took ours away did not want the other one back
	}
	plan.Losses = k.shape.losses(f.entry, r, e)
	var err error
	if plan.After, err = k.editor.cut(doc, was, plan.former); err != nil {
		return Plan{}, unreadable(file, err)
	}
	back, err := k.editor.parse(plan.After)
	if err == nil && !same(back.entry, plan.former) {
		err = errOutside
	}
	if err == nil {
		err = k.editor.outside(doc, plan.After)
	}
	if err != nil {
		return Plan{}, unreadable(file, err)
	}
	if was.Flag == "" && f.ready && k.scrubbed {
		plan.Notes = append(plan.Notes, "The switch "+codexFlag+" stays on, since it is not known who turned it on")
	}
	return plan, nil
}

// attempts is how often an edit is made anew when somebody else writes the file at the same time.
const attempts = 5

func (k *fileKind) apply(ctx context.Context, p Place, plan Plan) (Receipt, error) {
	shown := plan
	for range attempts {
		if err := context.Cause(ctx); err != nil {
			return Receipt{}, err
		}
		r, err := k.write(p, plan)
		if !errors.Is(err, atomicfile.ErrChanged) {
			return r, err
		}
		if plan, err = k.again(ctx, p, shown); err != nil {
			return Receipt{}, err
		}
		if plan.Act == ActNone {
			return p.Apply(ctx, plan, false)
		}
	}
	return Receipt{}, fault.New(fault.Unavailable, "%s is being written by another program again and again", plan.File).
		WithHint("Nothing was changed. Close %s, then try again.", k.client.Name)
}

// again makes a plan that was shown once more, upon the file as it is now.
func (k *fileKind) again(ctx context.Context, p Place, shown Plan) (Plan, error) {
	replan := k.plan
	if shown.Act == ActRemove {
		replan = k.planRemove
	}
	plan, err := replan(ctx, p, shown.Entry)
	if err != nil {
		return Plan{}, err
	}
	if plan.Act != ActNone && (plan.Act == ActReplace && !same(plan.former, shown.former) || len(plan.Losses) > len(shown.Losses)) {
		return Plan{}, fault.New(fault.Conflict, "%s was changed, and what would be done now is not what was shown", plan.File).
			WithHint("Nothing was changed. Look at it again.")
	}
	return plan, nil
}

// write carries out a plan, or fails with ErrChanged if the file is not as it was when the plan was made, or does not stay
// as it was written.
func (k *fileKind) write(p Place, plan Plan) (Receipt, error) {
	r, err := k.receiptOf(p, plan)
	if err != nil {
		return Receipt{}, err
	}
	if err := os.MkdirAll(filepath.Dir(plan.Target), 0o700); err != nil {
		return Receipt{}, unwritable(plan.File, err)
	}
	if !plan.Missing && !plan.Delete { // what goes was made by us, and is as we made it
		if r.Backup, err = backUp(plan.File, plan.Before, r.At); err != nil {
			return Receipt{}, err
		}
	}
	old := p.receipt(k.client.ID)
	if plan.Act != ActRemove {
		err = p.keepReceipt(r) // first, so that after a crash what we wrote is known as ours
	}
	if err == nil {
		if err = k.replace(plan); err != nil && plan.Act != ActRemove {
			err = errors.Join(err, p.putReceiptBack(k.client.ID, old))
		}
	}
	if err != nil {
		if r.Backup != "" {
			err = errors.Join(err, os.Remove(r.Backup))
		}
		return Receipt{}, err
	}
	if plan.Act == ActRemove {
		err = p.dropReceipt(k.client.ID)
	}
	return r, err
}

// receiptOf says what will have been done.
func (k *fileKind) receiptOf(p Place, plan Plan) (Receipt, error) {
	r := Receipt{Client: k.client.ID, Act: plan.Act, File: plan.File, At: time.Now().UTC()}
	if plan.Act == ActRemove {
		return r, nil
	}
	entry, err := json.Marshal(plan.entry)
	if err != nil {
		return r, fault.Wrap(err, fault.Internal, "The entry cannot be recorded")
	}
	r.Entry, r.Written = entry, digest(plan.After)
	old := p.receipt(k.client.ID)
	switch {
	case old.fits(plan.File, plan.Before): // only we wrote since, so the beginning is still the beginning
		r.Origin, r.Missing, r.Folder, r.Former, r.Was = old.Origin, old.Missing, old.Folder, old.Former, old.Was
	case plan.Act == ActRepair: // somebody else wrote, too: the bytes from before are of no use any more
		r.Written = ""
		if old != nil && old.File == plan.File {
			r.Former, r.Was = old.Former, old.Was
		}
	default:
		r.Origin, r.Missing = plan.Before, plan.Missing
		_, err := os.Stat(filepath.Dir(plan.Target))
		r.Folder = errors.Is(err, fs.ErrNotExist)
		if plan.former != nil {
			if r.Former, err = k.editor.pack(plan.former); err != nil {
				return r, unreadable(plan.File, err)
			}
		}
		f, err := k.editor.parse(plan.Before)
		if err != nil {
			return r, unreadable(plan.File, err)
		}
		r.Was = f.was
	}
	return r, nil
}

// replace puts the new content in place, and looks whether it stayed there: a program that had read the file before may
// have written it right after us.
func (k *fileKind) replace(plan Plan) error {
	if plan.Delete {
		return unwritable(plan.File, removeFile(plan))
	}
	err := atomicfile.WriteFile(plan.Target, plan.After, 0o600, atomicfile.Over(plan.Before, plan.Missing))
	if err == nil {
		var doc []byte
		if doc, _, err = readFile(plan.Target, maxConfig); err == nil && !bytes.Equal(doc, plan.After) {
			err = atomicfile.ErrChanged
		}
	}
	return unwritable(plan.File, err)
}

func removeFile(plan Plan) error {
	doc, missing, err := readFile(plan.Target, maxConfig)
	if err != nil {
		return err
	}
	if missing || !bytes.Equal(doc, plan.Before) {
		return atomicfile.ErrChanged
	}
	if err := os.Remove(plan.Target); err != nil {
		return err
	}
	if plan.folder {
		_ = os.Remove(filepath.Dir(plan.Target)) // stays if something else is in it by now
	}
	return nil
}
