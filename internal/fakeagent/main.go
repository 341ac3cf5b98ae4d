// Command fakeagent is a coding agent without a model, for tests: a long-lived full-screen program with an input field
// that can behave like each kind of real agent, the awkward ones included, and that writes down exactly what it was
// sent. It does what directives in the prompt say (see directives.go) and then comes to rest.
//
// What it is told:
//
//	--manner a,b,...     how it behaves; see the constants of manner.go
//	--delay D            length of the splash, the banner or the deaf time (default 800ms)
//	--window D           how long after text an Enter is swallowed in the manner cr-window (default 120ms)
//	--session-id ID      begin a conversation under this id
//	--resume ID          take up a conversation; unknown ids end it with status 1
//	--continue           take up the newest conversation of the working directory
//	resume ID|--last     the same, as a subcommand
//
//	FAKEAGENT_LOG        file to which each submitted prompt is appended as a line of JSON (Record)
//	FAKEAGENT_HOME       directory of its conversations, sessions/ID.jsonl
//	FAKEAGENT_CLAUDE     set: write a transcript in claude's form under CLAUDE_CONFIG_DIR as well
//	FAKEAGENT_MANNER     the default of --manner
//
// Unknown flags are passed over, as a real agent's flags may be given. Ctrl-C, TERM and HUP end it with status 0. It
// promises nothing to anybody but the tests of this repository.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	o, err := parseArgs(os.Args[1:], os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakeagent:", err)
		os.Exit(2)
	}
	a, err := newAgent(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(a.run())
}

// options are what it was told.
type options struct {
	manner        map[string]bool
	delay, window time.Duration
	sessionID     string
	resume        string
	latest        bool
	log, home     string
	claude        string // configuration directory for a transcript in claude's form; empty = none
	argv          []string
}

// parseArgs reads the command line. Flags may be written --a=b and --a b.
func parseArgs(args []string, getenv func(string) string) (options, error) {
	o := options{manner: map[string]bool{}, delay: 800 * time.Millisecond, window: 120 * time.Millisecond,
		log: getenv("FAKEAGENT_LOG"), home: getenv("FAKEAGENT_HOME"), argv: args}
	if getenv("FAKEAGENT_CLAUDE") != "" {
		o.claude = getenv("CLAUDE_CONFIG_DIR")
	}
	manner := getenv("FAKEAGENT_MANNER")
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		take := func() string {
			if !has && i+1 < len(args) {
				i++
				value = args[i]
			}
			return value
		}
		var err error
		switch name {
		case "--manner":
			manner = take()
		case "--delay":
			o.delay, err = time.ParseDuration(take())
		case "--window":
			o.window, err = time.ParseDuration(take())
		case "--session-id":
			o.sessionID = take()
		case "--resume":
			o.resume = take()
		case "--continue":
			o.latest = true
		case "resume":
			if o.resume = take(); o.resume == "--last" {
				o.resume, o.latest = "", true
			}
		}
		if err != nil {
			return o, err
		}
	}
	for _, m := range strings.Split(manner, ",") {
		if m == "" {
			continue
		}
		if !knownManners[m] {
			return o, fmt.Errorf("there is no manner %q", m)
		}
		o.manner[m] = true
	}
	return o, nil
}
