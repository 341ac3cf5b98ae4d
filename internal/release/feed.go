package release

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"termic/internal/fault"
)

// format is the number of the form that feeds have; another one is for another Termic.
const format = 1

// maxAhead is by how much the clock of whoever signed may be ahead of ours.
const maxAhead = 24 * time.Hour

// Feed is what a project says of its newest release.
type Feed struct {
	Version string    // of the newest release
	Made    time.Time // when it was signed: who has seen one takes none that is older
	Until   time.Time // from when on it is not believed any more
	Page    string    // https address of a page about the release; may be empty
}

// wire is a feed as it is written.
type wire struct {
	Format  int       `json:"format"`
	Version string    `json:"version"`
	Made    time.Time `json:"made"`
	Until   time.Time `json:"until"`
	Page    string    `json:"page"`
}

// Read verifies a feed and then reads it. seen is when the newest feed was made that was ever believed; zero for none. Errors are
// faults for the person: Forbidden where the signature does not hold, Conflict for one that is old, else Unavailable.
func Read(text, signature []byte, key Key, seen, now time.Time) (Feed, error) {
	if err := key.Verify(text, signature); err != nil {
		return Feed{}, fault.Wrap(err, fault.Forbidden, "What came from the address of updates is not signed by the key of the project, so nothing of it was read").
			WithHint("If that stays so, somebody else answers there, or the project has a new key: ask it.")
	}
	var w wire
	if err := json.Unmarshal(text, &w); err != nil {
		return Feed{}, unreadable(err)
	}
	if w.Format != format {
		return Feed{}, fault.New(fault.Unavailable, "The feed of releases has the form %d, which this Termic does not know", w.Format).
			WithHint("Look by hand whether there is a newer Termic.")
	}
	if _, ok := ParseVersion(w.Version); !ok || w.Made.IsZero() || w.Until.IsZero() || w.Page != "" && PageProblem(w.Page) != "" {
		return Feed{}, unreadable(nil)
	}
	switch {
	case w.Made.After(now.Add(maxAhead)):
		return Feed{}, fault.New(fault.Conflict, "The feed of releases was signed on %s, which is still to come", day(w.Made)).WithHint("Look whether the clock of this machine is right.")
	case w.Made.Before(seen):
		return Feed{}, fault.New(fault.Conflict, "The feed of releases was signed on %s, and one of %s was seen already", day(w.Made), day(seen)).
			WithHint("Somebody may hide a release from you: look by hand.")
	case !now.Before(w.Until):
		return Feed{}, fault.New(fault.Conflict, "The feed of releases held until %s, and there is no newer one", day(w.Until)).
			WithHint("A release may be hidden from you, or the project has forgotten it: look by hand.")
	}
	return Feed{Version: strings.TrimPrefix(w.Version, "v"), Made: w.Made, Until: w.Until, Page: w.Page}, nil
}

func unreadable(err error) error {
	return fault.Wrap(err, fault.Unavailable, "The feed of releases is signed as it should be, and cannot be read").WithHint("Tell the project.")
}

func day(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }

// AddressProblem says in words that follow a key what is wrong with an address to ask; empty where nothing is. Names and passwords
// have no place in it, since it is shown.
func AddressProblem(text string) string { return problem(text, true) }

// PageProblem is AddressProblem for an address that people open.
func PageProblem(text string) string { return problem(text, false) }

// maxAddress is the longest address, in bytes.
const maxAddress = 1024

func problem(text string, loopback bool) string {
	const why = "must be an address that begins with https:// and has a host"
	u, err := url.Parse(text)
	switch {
	case err != nil, len(text) > maxAddress, !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl), u.Hostname() == "":
		return why
	case u.User != nil || u.Fragment != "":
		return "must have no name, no password and no #"
	case u.Scheme == "https", loopback && u.Scheme == "http" && isLoopback(u.Hostname()):
		return ""
	}
	return why
}
