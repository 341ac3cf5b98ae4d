package api

// How it stands with newer releases.
const (
	UpdatesOff     = "off"     // not asked for: updates.check is off
	UpdatesUnset   = "unset"   // switched on, but there is no address or no key
	UpdatesUnasked = "unasked" // switched on, and not yet answered
	UpdatesCurrent = "current" // there is none
	UpdatesNewer   = "newer"   // there is one
	UpdatesUnknown = "unknown" // a release is known, and this build has no version that could be compared with it
)

// UpdateCheckParams are the parameters of update_check.
type UpdateCheckParams struct {
	Now bool `json:"now,omitempty" cli:"now" doc:"ask now, instead of telling what was found last"`
}

// UpdateResult is the result of update_check. Nothing of it comes from a feed that was not signed as it should be.
type UpdateResult struct {
	Version string `json:"version"`           // that runs
	State   string `json:"state"`             // off, unset, unasked, current, newer, unknown
	Latest  string `json:"latest,omitempty"`  // the newest release that is known
	Page    string `json:"page,omitempty"`    // https address of a page about it
	Address string `json:"address,omitempty"` // that is asked, or would be
	Asked   string `json:"asked,omitempty"`   // when it was asked last; RFC 3339, UTC
	Found   string `json:"found,omitempty"`   // when an answer was believed last
	Error   string `json:"error,omitempty"`   // why the last look found nothing, or why none is made
	Hint    string `json:"hint,omitempty"`    // what to do about that
}
