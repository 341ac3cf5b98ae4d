package main

// The manners. Those of signals may be joined with those of input and of start.
const (
	// Signals.
	status      = "osc7501" // asks for status reports, and reports when it is answered, as claude does
	statusFirst = "report"  // reports unasked, as codex does, and flashes "working" at the start
	title       = "title"   // spinner and star in the window title
	notify      = "osc9"    // a notification at the end of each turn
	shellMarks  = "osc133"
	progress    = "progress" // OSC 9;4
	silent      = "silent"   // says nothing; the default

	// Input.
	crWindow    = "cr-window"     // an Enter soon after text is swallowed
	bursts      = "reads-bursts"  // an Enter that is read together with other bytes is lost
	plain       = "linemode"      // does not ask for bracketed paste; a line feed is a line break
	cooked      = "cooked"        // leaves the terminal in line mode: each line is a prompt
	commands    = "commands"      // a prompt that begins with / ! # @ is a command, not a prompt
	exits       = "exits"         // ends at the first text
	toShell     = "becomes-shell" // at the first text it ends and a shell stands in its place
	asksOnFirst = "trust-after"   // shows a trust dialog in answer to the first prompt, cursor on "Trust"

	// Start.
	dropsFirst = "drop-first-paste" // shows a splash and throws input away for the delay, then shows its field
	deaf       = "deaf"             // shows its field at once and throws input away for the delay
	banner     = "banner-delay"     // prints a login banner, waits for the delay, then shows its field
	update     = "modal"            // begins with an update menu, cursor on "Update now"
	trust      = "trust"            // begins with a trust dialog, cursor on "No, exit"
	ticking    = "ticking"          // never rests: a clock on the screen

	// Turns.
	pending = "pending" // after each turn a row says for the delay that background agents run
	staged  = "stage"   // after each turn it looks done, and works again after the delay
)

var knownManners = map[string]bool{
	status: true, statusFirst: true, title: true, notify: true, shellMarks: true, progress: true, silent: true,
	crWindow: true, bursts: true, plain: true, cooked: true, commands: true, exits: true, toShell: true, asksOnFirst: true,
	dropsFirst: true, deaf: true, banner: true, update: true, trust: true, ticking: true, pending: true, staged: true,
}
