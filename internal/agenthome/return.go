package agenthome

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"termic/internal/atomicfile"
	"termic/internal/fault"
)

// ReturnOptions say whose login is looked after. Agent, RealHome and Env are those of Options.
type ReturnOptions struct {
	Agent    string
	RealHome string
	Env      map[string]string
	// Homes are the private homes in which the agent lives, on the host. All lie in one folder, which no cage can write
	// and which holds the lock.
	Homes []string
	// Only: what was refreshed is shared among the homes, and the user's own file is not touched.
	Only bool
}

// Returned tells what Return did.
type Returned struct {
	// Taken are the homes whose logins were newest, one for each login that was taken; with Only, for the other homes alone.
	Taken []string
	// Pushed are the homes that were given a newer login.
	Pushed []string
	// Refused are the homes whose login was left where it is.
	Refused []Refusal
}

// Refusal says why the login of a home was not taken.
type Refusal struct{ Home, Why string }

// LoginFile is where the agent keeps its login in a private home, as a host path; empty when it keeps none that can be
// returned. It is for who watches for a change: the file may be anything, so it is read by Return alone.
func LoginFile(agent, home string) string {
	r, known := recipes()[agent]
	if !known || r.login == nil {
		return ""
	}
	return filepath.Join(home, r.folder, r.login.file)
}

// Return takes refreshed logins back to the user's own file and gives the newest to the other homes. A home without a
// login file is not given one. It holds a lock for as long as it reads and writes, so any number may be called at once.
//
// Errors: fault.Unavailable (a file of the user's could not be written or locked), fault.Unsupported (no cages here). A
// home that is refused is no error.
func Return(ctx context.Context, o ReturnOptions) (Returned, error) {
	r, known := recipes()[o.Agent]
	if !known || r.login == nil || len(o.Homes) == 0 {
		return Returned{}, nil
	}
	var out Returned
	path := filepath.Join(r.find(Options{RealHome: o.RealHome, Env: o.Env}), r.login.file)
	err := locked(lockOf(o.Homes[0], o.Agent), func() error {
		x := exchange{form: r.login, rel: r.folder + "/" + r.login.file, path: path, now: time.Now(), only: o.Only}
		x.account = r.login.ownerOf(Options{RealHome: o.RealHome, Env: o.Env})
		defer x.close()
		if err := x.open(o.Homes); err != nil || ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		err := x.settle()
		out = x.out
		return err
	})
	if f := (*fault.Error)(nil); err != nil && !errors.As(err, &f) {
		err = fault.Wrap(err, fault.Unavailable, "A refreshed login could not be taken back").
			WithHint("If the agent asks for it outside, log in there once.")
	}
	return out, err
}

// lockOf is the lock of an agent's logins. It lies beside the homes.
func lockOf(home, agent string) string {
	return filepath.Join(filepath.Dir(home), ".login-"+agent+".lock")
}

// exchange is one round of bringing logins together, under the lock.
type exchange struct {
	form *loginForm
	rel  string // of the login file in a home
	path string // of the user's own
	now  time.Time
	only bool
	// account is whose the user's login is, as far as that is noted.
	account string
	homes   []*lodger
	out     Returned
}

// lodger is one home in an exchange.
type lodger struct {
	home string
	tree *tree
	raw  []byte // what was read of the login; nil when it was refused
	doc  object // nil = there, but not understood
}

func (x *exchange) open(homes []string) error {
	for _, h := range homes {
		t, err := openTree(h)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its task is gone
		}
		if err != nil {
			return err
		}
		l := &lodger{home: h, tree: t}
		if !x.look(l) {
			if err := t.Close(); err != nil {
				return err
			}
			continue
		}
		x.homes = append(x.homes, l)
	}
	return nil
}

// look reads the login of a home, and reports whether there is one. What is no login is refused.
func (x *exchange) look(l *lodger) bool {
	l.raw, l.doc = nil, nil
	data, err := l.tree.read(x.rel, maxLogin)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		l.raw = data
		l.doc, err = parseObject(data)
	}
	if err == nil && !x.sameOwner(l.tree) {
		l.doc, err = nil, errors.New("it is for another account")
	}
	if err != nil {
		x.refuse(l, err)
	}
	return true
}

// ownerOf is whose the user's login is, as the agent notes it; empty when it does not.
func (f *loginForm) ownerOf(o Options) string {
	if f.owner == nil {
		return ""
	}
	data, err := readSource(f.userState(o), maxConfig)
	if err != nil {
		return ""
	}
	state, err := parseObject(data)
	if err != nil {
		return ""
	}
	return f.owner(state)
}

// sameOwner reports whether a home notes the user's account, or none.
func (x *exchange) sameOwner(t *tree) bool {
	if x.account == "" {
		return true
	}
	data, err := t.read(x.form.homeState, maxConfig)
	if err != nil {
		return true // it notes nothing
	}
	state, err := parseObject(data)
	if err != nil {
		return true
	}
	owner := x.form.owner(state)
	return owner == "" || owner == x.account
}

func (x *exchange) close() {
	for _, l := range x.homes {
		_ = l.tree.Close() // it was open for reading names alone
	}
}

func (x *exchange) refuse(l *lodger, why error) {
	x.out.Refused = append(x.out.Refused, Refusal{Home: l.home, Why: why.Error()})
}

// attempts bounds how often logins are read again because an agent refreshed one meanwhile.
const attempts = 20

// settle brings the newest login into the user's file, then into the homes.
func (x *exchange) settle() error {
	refused := len(x.out.Refused)
	for range attempts {
		x.out.Taken, x.out.Refused = nil, x.out.Refused[:refused]
		before, err := readSource(x.path, maxLogin)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the user has no login, and a cage gives none
		}
		if err != nil {
			return err
		}
		doc, err := parseObject(before)
		if err != nil {
			return nil // not ours to mend
		}
		best := x.best(doc)
		if len(x.out.Taken) > 0 && !x.only {
			done, err := x.replace(before, best)
			if err != nil {
				return err
			}
			if !done {
				continue
			}
		}
		if x.push(best) {
			return nil
		}
	}
	return errors.New("the logins kept changing")
}

// best is the user's login with every entry that is newer in a home.
func (x *exchange) best(doc object) object {
	for _, path := range x.form.at(doc) {
		var from *lodger
		have := x.form.entryAt(doc, path)
		for _, l := range x.homes {
			if l.doc == nil {
				continue
			}
			values, err := x.form.refreshed(have, x.form.entryAt(l.doc, path), x.now)
			switch {
			case err == nil:
				doc, from = x.form.put(doc, path, values), l
				have = x.form.entryAt(doc, path)
			case !errors.Is(err, errOlder):
				x.refuse(l, err)
			}
		}
		if from != nil {
			x.out.Taken = append(x.out.Taken, from.home)
		}
	}
	return doc
}

// replace puts a document in the place of the user's, unless that changed.
func (x *exchange) replace(before []byte, doc object) (bool, error) {
	data, err := encodeLike(before, doc)
	if err != nil {
		return false, err
	}
	err = atomicfile.WriteFile(x.path, data, 0o600, atomicfile.Over(before, false))
	if errors.Is(err, atomicfile.ErrChanged) {
		return false, nil
	}
	return true, err
}

// encodeLike writes a document with indentation if the one before had it.
func encodeLike(before []byte, doc object) ([]byte, error) {
	if bytes.Contains(bytes.TrimSpace(before), []byte("\n")) {
		return json.MarshalIndent(doc, "", "  ")
	}
	return json.Marshal(doc)
}

func writeLogin(t *tree, rel string, doc object) error {
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return t.write(rel, data, 0o600, true)
}

// seedLogin gives the home the user's login. One that was refreshed in the home is taken back first, or, if that is not
// wanted, stays in the home.
func (s *seeding) seedLogin() error {
	path, rel := filepath.Join(s.from, s.login.file), s.folder+"/"+s.login.file
	return locked(lockOf(s.Home, s.Agent), func() error {
		x := exchange{form: s.login, rel: rel, path: path, now: time.Now(), only: !s.CopyBack, account: s.login.ownerOf(s.Options)}
		defer x.close()
		if err := x.open([]string{s.Home}); err != nil {
			return err
		}
		if err := x.settle(); err != nil {
			s.left("A login that was refreshed in this home could not be taken back: %v.", err)
		}
		for _, r := range x.out.Refused {
			s.left("A login in this home was not taken back: %s.", strings.TrimSuffix(r.Why, "."))
		}
		if len(x.homes) > 0 {
			return nil // settle has given it what is newest
		}
		data := s.source(path, maxLogin)
		if data == nil {
			return nil
		}
		doc, err := parseObject(data)
		if err != nil {
			s.left("%s is not understood, so there is no login in the cage.", path)
			return nil
		}
		seed := s.login.seedable(doc)
		if len(seed) == 0 {
			return nil
		}
		if err := writeLogin(s.tree, rel, seed); err != nil {
			return err
		}
		s.out.Seeded = append(s.out.Seeded, rel)
		return nil
	})
}
