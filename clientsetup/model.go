package clientsetup

// Client is one program that can be registered with, as the table has it.
type Client struct {
	ID   string // for commands and files: claude, codex, ...
	Name string // for people

	// Documented says that the client was never run by us: what is written for it is taken from its documentation.
	Documented bool
	// Writer says that only the client's own program writes its file: a plan has commands and no bytes.
	Writer bool
	// Support is whether the client can reach the endpoint at all.
	Support Support
}

// Support is what is known of a client's ability to speak [Revision] and to get the token when it connects.
type Support struct {
	From    string // the first version that speaks it; empty: none is known
	Seen    string // the newest version that was looked at, run or documented
	On      string // when, as 2006-01-02
	Carries bool   // it can get the token itself whenever it connects or starts; else no entry would live past the next token
	Words   string // for people: one or two sentences
}

// State is what Detect found.
type State struct {
	Client     Client
	Installed  bool
	Program    string   // path of the program or app; empty if not found
	Version    string   // as the program says, numbers only; empty if it was not asked or did not say
	Usable     bool     // this version can reach the endpoint, as far as is known
	Why        string   // if not Usable: why, for people
	File       string   // where the entry stands or would stand, before links are followed
	Registered bool     // an entry with our name is there
	Foreign    bool     // ... but it is not of Termic's making, or not recognisable any more
	ByTermic   bool     // ... it is, and asks `termic mcp headers` instead of reading the file, see Entry.ByTermic
	Edits      []string // keys that somebody added to our entry or changed, sorted; never their values
	Stale      []Stale
	Shadows    []Shadow
	Receipt    *Receipt // what we wrote there, if that is on record
	Problem    error    // the file cannot be read or edited: a *fault.Error
	Notes      []string // for people
}

// OK reports whether the client would reach the endpoint by our entry.
func (s State) OK() bool {
	return s.Registered && s.Usable && !s.Foreign && len(s.Stale) == 0 && len(s.Shadows) == 0 && s.Problem == nil
}

// Stale is one thing in a registration that no longer fits.
type Stale struct {
	Key   string // url, token, command, flag, timeout, transport, disabled
	Have  string // what stands there; never a secret
	Want  string
	Words string // for people: what happened, such as that the port changed
}

// Shadow is an entry of the same name that wins over ours in some place.
type Shadow struct {
	Scope string // local, project, profile, disabled, managed, denied, allowed
	File  string
	Where string // the folder or the key
	Words string
}

// Acts of a Plan.
const (
	ActNone    = "none"    // nothing has to be done
	ActAdd     = "add"     // there is no entry yet
	ActRepair  = "repair"  // our entry no longer fits
	ActReplace = "replace" // an entry of somebody else's has our name
	ActRemove  = "remove"
)

// Plan is what would be done, and can be shown before it is.
type Plan struct {
	Client Client
	Act    string
	Entry  Entry

	File   string     // as the person knows it
	Target string     // the file behind the links of File; the same without any
	Diff   string     // unified, for people; of the entry alone where Runs writes. It has text of the person's file: never log it
	Runs   [][]string // the client's own commands, without the program's path; instead of After
	Notes  []string   // for people

	// Losses is what would be lost and needs consent, for people: what was changed by hand since we wrote it.
	Losses []string

	Before, After []byte // the content of Target
	Missing       bool   // Target does not exist
	Delete        bool   // it will not exist afterwards, since it did not before we came

	entry  map[string]any // ours as it will be; of a removal: the one that stands there
	former map[string]any // one of somebody else's: that goes, or of a removal, that comes back
	folder bool           // the folder of Target goes too, since it was not there before we came
}

// Options are a person's choices for Plan.
type Options struct {
	Anyway bool // register although no version of the client is known to speak Revision
}

// Report is what Verify found.
type Report struct {
	OK      bool
	Summary string   // one sentence for people
	Hint    string   // what to do next; may be empty
	Steps   []Step   // what was tried, in order; the last one is the one that failed, if any
	Notes   []string // what does not keep it from connecting: an entry that wins in some project, a short time limit
	Server  string   // name and version of what answered
	Tools   int      // how many tools the list has
}

// Step is one thing that Verify tried.
type Step struct {
	Name  string // entry, command, connect, discover, list
	OK    bool
	Words string
}

// Block is what a person can copy and put in place by hand.
type Block struct {
	Where    string // for people: a file, or "a terminal"
	Language string // sh, toml, json
	Text     string
}
