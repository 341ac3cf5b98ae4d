package core

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/ids"
	"termic/internal/release"
	"termic/internal/store"
)

const (
	// releaseEvery is how long after a look the next one is made, and releaseAgain after one that found nothing; to both comes a
	// part of releaseJitter, so that not everybody asks at the hour at which a working day begins.
	releaseEvery  = 24 * time.Hour
	releaseAgain  = 4 * time.Hour
	releaseJitter = 4 * time.Hour
	// releaseTick is how often the clock is looked at meanwhile: a timer stands still while the machine sleeps.
	releaseTick = time.Hour
)

// Releases say whom a build asks for newer releases, and whose word it takes. The settings win over both.
type Releases struct {
	Address string // of a feed; empty: none
	Key     string // in the words of ssh; empty: none
}

// knownRelease is what is stored of newer releases.
type knownRelease struct {
	Address string    `json:"address"` // that was asked last
	Key     string    `json:"key"`     // id of the key that Version, Page, Made and Until were signed by
	Version string    `json:"version,omitempty"`
	Page    string    `json:"page,omitempty"`
	Made    time.Time `json:"made"` // no feed is believed that is older
	Asked   time.Time `json:"asked"`
	Found   time.Time `json:"found"`
	Error   string    `json:"error,omitempty"` // of the last look
	Hint    string    `json:"hint,omitempty"`
}

// releases are what is known of newer releases. The goroutine is Core's watchReleases.
type releases struct {
	built  Releases
	asking chan struct{} // holds one: whoever asks
	stir   chan struct{} // holds one: the settings changed

	mu     sync.Mutex // guards the following
	known  knownRelease
	jitter time.Duration // of the next look
}

func newReleases(built Releases) *releases {
	return &releases{built: built, asking: make(chan struct{}, 1), stir: make(chan struct{}, 1), jitter: rand.N(releaseJitter)}
}

// changed has the goroutine look at the settings again.
func (r *releases) changed() {
	select {
	case r.stir <- struct{}{}:
	default: // it has not yet looked since the last time
	}
}

func (r *releases) now() knownRelease {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

// loadReleases reads what was known when the app ended.
func (c *Core) loadReleases(ctx context.Context) {
	text, err := c.store.Update(ctx)
	var k knownRelease
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &k)
	}
	if err != nil {
		c.log.Warn("what was known of newer releases cannot be read; it is asked for again", "err", err)
		return
	}
	c.releases.mu.Lock()
	defer c.releases.mu.Unlock()
	c.releases.known = k
}

// whomToAsk is where a feed is and who signs it; an error for the person where one of both is not known.
func (c *Core) whomToAsk() (address string, key release.Key, err error) {
	s := c.settings.Get().Updates
	address, text := s.Address, s.Key
	if address == "" {
		address = c.releases.built.Address
	}
	if text == "" {
		text = c.releases.built.Key
	}
	switch {
	case address == "":
		return "", key, fault.New(fault.Unavailable, "This build names no address to ask for newer releases, so nothing is asked").
			WithHint("If whoever made it names one: `termic settings set updates.address URL`.")
	case text == "":
		return address, key, fault.New(fault.Unavailable, "This build has no key that a feed of releases must be signed by, so nothing is asked").
			WithHint("If whoever made it names one: `termic settings set updates.key 'ssh-ed25519 …'`.")
	}
	if why := release.AddressProblem(address); why != "" { // of the build: the settings were looked at
		return address, key, fault.New(fault.Unavailable, "The address that this build asks for newer releases %s", why).WithHint("Tell whoever made it.")
	}
	if key, err = release.ParseKey(text); err != nil {
		return address, key, fault.Wrap(err, fault.Unavailable, "The key that this build has for newer releases cannot be read").WithHint("Tell whoever made it.")
	}
	return address, key, nil
}

// untilLook is how long it is until the next look; false where none is made.
func (c *Core) untilLook() (time.Duration, bool) {
	address, _, err := c.whomToAsk()
	if err != nil || !c.settings.Get().Updates.Check {
		return 0, false
	}
	r, now := c.releases, c.clock.wall()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known.Address != address || r.known.Asked.After(now) { // somebody else, or the clock was wrong then
		return 0, true
	}
	pause := releaseEvery
	if r.known.Error != "" {
		pause = releaseAgain
	}
	return r.known.Asked.Add(pause + r.jitter).Sub(now), true
}

// watchReleases looks for newer releases as long as the settings want it, until the app ends. While they do not it waits, and nothing is asked.
func (c *Core) watchReleases() {
	for c.ctx.Err() == nil {
		var rings <-chan time.Time
		stop := func() bool { return true }
		if wait, on := c.untilLook(); on && wait <= 0 {
			c.lookByItself()
			continue
		} else if on {
			rings, stop = c.clock.timer(min(wait, releaseTick))
		}
		select {
		case <-c.ctx.Done():
		case <-c.releases.stir:
		case <-rings:
		}
		stop()
	}
}

// lookByItself makes the look that is due. What the app does by itself is in the ledger.
func (c *Core) lookByItself() {
	began := c.clock.wall()
	err := c.lookForRelease(c.ctx)
	if c.ctx.Err() != nil {
		return // it ended in between, and asks at its next start
	}
	row := store.LedgerRow{Phase: store.PhaseDone, Call: ids.New(), Principal: byTermic, Verb: "update_check", Outcome: "ok", Duration: c.clock.wall().Sub(began)}
	if err != nil {
		row.Outcome = string(fault.CodeOf(err))
		c.log.Info("no feed of releases was taken", "err", err)
	}
	if err := c.Record(c.ctx, row, false); err != nil && c.ctx.Err() == nil {
		c.log.Error("a look for newer releases is not in the ledger", "err", err)
	}
}

// lookForRelease asks now, and keeps what came of it. One look is made at a time.
func (c *Core) lookForRelease(ctx context.Context) error {
	r := c.releases
	select {
	case r.asking <- struct{}{}:
		defer func() { <-r.asking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	address, key, err := c.whomToAsk()
	if err != nil {
		return err
	}
	next := r.now()
	if next.Key != key.ID() { // another key, another project
		next = knownRelease{Key: key.ID()}
	}
	text, signature, err := release.Get(ctx, address, release.DefaultLimit)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	now := c.clock.wall()
	if err == nil {
		var feed release.Feed
		if feed, err = release.Read(text, signature, key, next.Made, now); err == nil {
			next.Version, next.Page, next.Made, next.Found = feed.Version, feed.Page, feed.Made, now
		}
	}
	next.Address, next.Asked, next.Error, next.Hint = address, now, "", ""
	if f := fault.From(err); f != nil {
		next.Error, next.Hint = f.Message, f.Hint
	}
	r.mu.Lock()
	r.known, r.jitter = next, rand.N(releaseJitter)
	r.mu.Unlock()
	c.beacon.change()
	stored, jerr := json.Marshal(next)
	if jerr == nil {
		jerr = c.store.SetUpdate(context.WithoutCancel(ctx), string(stored))
	}
	if jerr != nil { // an app that is started again asks again
		c.log.Error("what was found of newer releases could not be stored", "err", jerr)
	}
	return err
}

// updateResult tells how it stands with newer releases. It asks nobody.
func (c *Core) updateResult() api.UpdateResult {
	address, key, err := c.whomToAsk()
	out := api.UpdateResult{Version: c.version, State: api.UpdatesOff, Address: address}
	if f := fault.From(err); f != nil {
		out.Error, out.Hint = f.Message, f.Hint
	}
	if !c.settings.Get().Updates.Check {
		return out
	}
	if err != nil {
		out.State = api.UpdatesUnset
		return out
	}
	k := c.releases.now()
	if k.Address == address {
		out.Asked, out.Error, out.Hint = stamp(k.Asked), k.Error, k.Hint
	}
	if out.State = api.UpdatesUnasked; k.Version == "" || k.Key != key.ID() {
		return out
	}
	out.Latest, out.Found = k.Version, stamp(k.Found)
	have, known := release.ParseVersion(c.version)
	latest, ok := release.ParseVersion(k.Version)
	switch {
	case !known || !ok:
		out.State = api.UpdatesUnknown
	case latest.Compare(have) > 0:
		out.State = api.UpdatesNewer
	default:
		out.State = api.UpdatesCurrent
	}
	if out.State != api.UpdatesCurrent {
		out.Page = k.Page
	}
	return out
}

// UpdateCheck is the verb update_check. What was asked and not answered stands in the result.
func (c *Core) UpdateCheck(ctx context.Context, _ *Call, p api.UpdateCheckParams) (api.UpdateResult, error) {
	if !p.Now {
		return c.updateResult(), nil
	}
	if !c.settings.Get().Updates.Check {
		return api.UpdateResult{}, fault.New(fault.Conflict, "Termic does not ask for newer releases unless that is switched on").
			WithHint("`termic settings set updates.check true` switches it on.")
	}
	if err := c.lookForRelease(ctx); err != nil {
		return api.UpdateResult{}, err
	}
	return c.updateResult(), nil
}

// updateFinding is what doctor says of newer releases.
func (c *Core) updateFinding() api.Finding {
	r := c.updateResult()
	f := api.Finding{Name: "updates", Level: "ok", Fix: r.Hint}
	switch {
	case r.State == api.UpdatesOff:
		f.Detail, f.Fix = "not asked for: updates.check is off", ""
	case r.State == api.UpdatesNewer:
		f.Level, f.Detail, f.Fix = "note", "Termic "+r.Latest+" is out; this is "+r.Version, "Get it as you got this one. "+r.Page
	case r.Error != "":
		f.Level, f.Detail = "warn", r.Error
	case r.State == api.UpdatesUnasked:
		f.Detail = "not asked yet"
	case r.State == api.UpdatesUnknown:
		f.Level, f.Detail = "note", "Termic "+r.Latest+" is the newest release; this build has no version to compare it with"
	default:
		f.Detail = "this is the newest release, as of " + r.Found
	}
	return f
}
