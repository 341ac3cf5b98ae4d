package agenthome

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// loginForm is the form of an agent's login file: a JSON object with entries that are refreshed, each with the same
// fields, and things beside them.
type loginForm struct {
	file string // below the agent's folder
	// at finds the entries that can be refreshed, each as the names that lead to it.
	at func(doc object) [][]string
	// fields of an entry change when it is refreshed. They alone are taken back.
	fields []field
	expiry func(entry object) (time.Time, error)
	// keep are the other fields of an entry that go into a home.
	keep []string
	// same are those of them that a refreshed login has unchanged.
	same []string
	// beside are plain members of the file itself that go into a home.
	beside []string
	// plain are the fields that go into a home from entries that are not refreshed.
	plain []string
	// owner reads from the agent's state file whose login it notes; empty = not noted. nil = it has no such file.
	owner     func(state object) string
	homeState string                 // of a home
	userState func(o Options) string // the user's own
}

// field is one value of a login.
type field struct {
	name string
	kind fieldKind
	// form is what the value begins with; it binds when the user's own value has it.
	form     *regexp.Regexp
	optional bool
	above    bool // it stands beside the entry, not in it
}

type fieldKind int

const (
	token  fieldKind = iota // printable text without blanks
	jwt                     // a token in three parts, the second of which is readable
	millis                  // a point in time in milliseconds since 1970
	stamp                   // a point in time as RFC 3339
)

// Bounds of what is believed about a login.
const (
	minToken = 8
	maxToken = 16 << 10
	// maxAhead is how far ahead a refreshed login may end. Access tokens of the known issuers live for hours or days; one
	// that never ends would win over every true one.
	maxAhead = 31 * 24 * time.Hour
)

// errOlder says that a login is not newer than the other, which is no fault of it.
var errOlder = errors.New("it is not newer")

// entryAt is the entry of a document that a path leads to; what is above it is merged in under its own names.
func (f *loginForm) entryAt(doc object, path []string) object {
	e := doc
	for _, name := range path {
		e = e.child(name)
	}
	e = maps.Clone(e)
	for _, x := range f.fields {
		if x.above {
			delete(e, x.name)
			if raw, has := doc[x.name]; has {
				e[x.name] = raw
			}
		}
	}
	return e
}

// put returns doc with the given values of an entry.
func (f *loginForm) put(doc object, path []string, values object) object {
	out := maps.Clone(doc)
	in := maps.Clone(values)
	for _, x := range f.fields {
		if raw, has := in[x.name]; has && x.above {
			out[x.name] = raw
			delete(in, x.name)
		}
	}
	return putAt(out, path, in)
}

func putAt(doc object, path []string, values object) object {
	out := maps.Clone(doc)
	if len(path) == 0 {
		maps.Copy(out, values)
		return out
	}
	out.set(path[0], putAt(doc.child(path[0]), path[1:], values))
	return out
}

// refreshed returns the fields of an entry of fresh that replace those of the entry in have, or why they may not:
// errOlder, or something that a refresh does not do.
func (f *loginForm) refreshed(have, fresh object, now time.Time) (object, error) {
	values := object{}
	for _, x := range f.fields {
		raw, has := fresh[x.name]
		if !has || string(raw) == "null" {
			if x.optional {
				continue
			}
			return nil, fmt.Errorf("its %s is missing", x.name)
		}
		if err := x.check(raw, have[x.name]); err != nil {
			return nil, fmt.Errorf("its %s %w", x.name, err)
		}
		values[x.name] = raw
	}
	for _, name := range f.same {
		if raw, has := fresh[name]; has && !sameJSON(raw, have[name]) {
			return nil, fmt.Errorf("its %s is not that of the user's login", name)
		}
	}
	ends, err := f.expiry(fresh)
	if err != nil {
		return nil, fmt.Errorf("its end is not known: %w", err)
	}
	old, err := f.expiry(have)
	if err == nil && !ends.After(old) {
		return nil, errOlder
	}
	if ends.After(now.Add(maxAhead)) {
		return nil, errors.New("it claims to be good for longer than such logins are")
	}
	if access := f.fields[0]; access.kind == token && sameJSON(fresh[access.name], have[access.name]) {
		return nil, errors.New("it claims another end for the same token")
	}
	return values, nil
}

// check says what is wrong with a value, given the user's own.
func (x field) check(raw, have json.RawMessage) error {
	switch x.kind {
	case millis:
		_, err := parseMillis(raw)
		return err
	case stamp:
		s, err := jsonText(raw)
		if err == nil {
			_, err = time.Parse(time.RFC3339Nano, s)
		}
		if err != nil {
			return errors.New("is no time")
		}
		return nil
	}
	s, err := jsonText(raw)
	if err != nil {
		return err
	}
	if len(s) < minToken || len(s) > maxToken || strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return errors.New("is no token")
	}
	old, _ := jsonText(have) // "" has no form to keep
	if x.form != nil && x.form.MatchString(old) && !x.form.MatchString(s) {
		return errors.New("has another form than that of the user's login")
	}
	if x.kind != jwt || old == "" {
		return nil
	}
	return sameAccount(old, s)
}

// sameAccount compares what two readable tokens say about whom they are for. What an issuer signed cannot be made up;
// what is made up, it refuses.
func sameAccount(old, fresh string) error {
	was, err := claims(old)
	if err != nil {
		return nil // an opaque one says nothing
	}
	is, err := claims(fresh)
	if err != nil {
		return errors.New("has another form than that of the user's login")
	}
	for _, name := range []string{"iss", "sub"} {
		if !sameJSON(was[name], is[name]) {
			return errors.New("is for another account")
		}
	}
	const openai = "https://api.openai.com/auth"
	for _, name := range []string{"chatgpt_account_id", "chatgpt_user_id", "user_id"} {
		if !sameJSON(was.child(openai)[name], is.child(openai)[name]) {
			return errors.New("is for another account")
		}
	}
	return nil
}

// claims reads the readable part of a token. Nothing proves it; it is compared and never trusted.
func claims(s string) (object, error) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return nil, errors.New("is no readable token")
	}
	body, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil, err
	}
	return parseObject(body)
}

// expiryField reads the end of a login from a field in milliseconds.
func expiryField(name string) func(object) (time.Time, error) {
	return func(e object) (time.Time, error) { return parseMillis(e[name]) }
}

// expiryOfJWT reads the end of a login from the token in a field.
func expiryOfJWT(name string) func(object) (time.Time, error) {
	return func(e object) (time.Time, error) {
		s, err := jsonText(e[name])
		if err != nil {
			return time.Time{}, err
		}
		c, err := claims(s)
		if err != nil {
			return time.Time{}, err
		}
		var sec float64
		if err := json.Unmarshal(c["exp"], &sec); err != nil || sec <= 0 || sec > 1e11 {
			return time.Time{}, errors.New("the token names no end")
		}
		return time.Unix(int64(sec), 0), nil
	}
}

// parseMillis reads a point in time; fractions are not one.
func parseMillis(raw json.RawMessage) (time.Time, error) {
	var n int64
	if err := json.Unmarshal(raw, &n); err != nil || n <= 0 || n > 1e14 {
		return time.Time{}, errors.New("is no time")
	}
	return time.UnixMilli(n), nil
}

// jsonText reads a JSON string.
func jsonText(raw json.RawMessage) (string, error) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", errors.New("is no text")
	}
	return *s, nil
}

// sameJSON compares two values as they mean. Missing and null are the same.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if len(a) > 0 && json.Unmarshal(a, &x) != nil || len(b) > 0 && json.Unmarshal(b, &y) != nil {
		return false
	}
	p, errP := json.Marshal(x)
	q, errQ := json.Marshal(y)
	return errP == nil && errQ == nil && bytes.Equal(p, q)
}

// seedable is what of a user's login goes into a home.
func (f *loginForm) seedable(doc object) object {
	out := object{}
	out.pick(doc, f.beside...)
	paths := f.at(doc)
	for _, path := range paths {
		entry, values := f.entryAt(doc, path), object{}
		for _, x := range f.fields {
			if raw, has := entry[x.name]; has && len(raw) <= maxToken {
				values[x.name] = raw
			}
		}
		for _, name := range f.keep {
			if raw, has := entry[name]; has && len(raw) <= maxToken {
				values[name] = raw
			}
		}
		out = f.put(out, path, values)
	}
	if len(f.plain) == 0 {
		return out
	}
	for name := range doc {
		if slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 1 && p[0] == name }) {
			continue
		}
		entry := object{}
		entry.pick(doc.child(name), f.plain...)
		if len(entry) > 0 {
			out.set(name, entry)
		}
	}
	return out
}
