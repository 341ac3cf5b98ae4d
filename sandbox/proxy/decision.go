package proxy

import "time"

// Verdict is what became of a request.
type Verdict string

// The verdicts.
const (
	Allowed    Verdict = "allowed"     // a rule allows it, and the host was reached
	Blocked    Verdict = "blocked"     // refused
	WouldBlock Verdict = "would_block" // Record let pass what Enforce would refuse
	Failed     Verdict = "failed"      // not refused, but the host could not be reached
)

// Reason is why a request was not simply allowed.
type Reason string

// The reasons.
const (
	NotListed      Reason = "not_listed"      // no rule allows the host at that port
	PrivateAddress Reason = "private_address" // the name leads to an address that is not public
	RefusedAddress Reason = "refused_address" // the name leads to an address of a netgroup that is taken out
	OwnPort        Reason = "own_port"        // one of Termic's own listeners
	BadHost        Reason = "bad_host"        // not a host in any one reading
	OtherServer    Reason = "other_server"    // the TLS greeting names another server than the CONNECT
	Unresolved     Reason = "unresolved"      // the name has no address
	Unreachable    Reason = "unreachable"     // nothing answered
)

// Decision is one request and what became of it. A tunnel that is cut for its TLS greeting makes two: it was allowed,
// then blocked.
type Decision struct {
	At      time.Time `json:"at"`
	Method  string    `json:"method"`           // CONNECT, or the method of a plain request
	Host    string    `json:"host"`             // canonical; as it was written, made printable and cut, for BadHost
	Port    uint16    `json:"port"`             // 0 when there was none to read
	Verdict Verdict   `json:"verdict"`          //
	Reason  Reason    `json:"reason,omitempty"` // empty for Allowed
	Rule    string    `json:"rule,omitempty"`   // the rule that matched, if one did
	Detail  string    `json:"detail,omitempty"` // one clause for a person
}
