package agent

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"termic/internal/fault"
)

// Vars fill the placeholders of arguments. A placeholder is written in braces, in any case: {UUID}, {TASK_NAME},
// {TASK_SLUG}, {TASK_ID}, {TASK_PATH}, {BRANCH}, {PORT}, {MCP_URL}; WORKSPACE_ is taken for TASK_. Unknown ones stay as they
// are.
type Vars struct {
	UUID                                 string // set by Launch; a caller's value is only used when nothing is minted
	TaskName, TaskSlug, TaskID, TaskPath string
	Branch                               string
	Port                                 int
	mcpURL                               string // LaunchOptions.MCPURL
}

// LaunchOptions say how an agent is to be started.
type LaunchOptions struct {
	SessionID   string // id of the conversation that was stored for this tab; may be empty
	Resume      bool   // take up a conversation: by SessionID if there is one and the agent can, else by directory
	ResumeByDir bool   // with Resume: the directory belongs to this task alone, so its newest conversation is ours
	Fresh       bool   // start anew whatever is stored; excludes Resume
	Yolo        bool
	Unattended  bool   // a prompt will be typed before a person looks
	MCPURL      string // address of the MCP endpoint, to connect by MCPArgs; empty: they are left out
	Vars        Vars
}

// Launch makes the argument vector of a spawn, program name first, and tells the id of the conversation ("" when the
// agent chooses its own). A new id was only chosen, not used: an agent knows it after its first prompt, so store it
// when State.Submits of the terminal's Detector becomes greater than zero, not before, or a later resume finds nothing.
//
// Errors: fault.InvalidArgument (Resume with Fresh), fault.Unsupported (there is no conversation to resume).
func Launch(k Kind, o LaunchOptions) (argv []string, sessionID string, err error) {
	if o.Resume && o.Fresh {
		return nil, "", fault.New(fault.InvalidArgument, "Resume and fresh exclude each other")
	}
	var session []string
	resumed := false
	switch {
	case o.Resume && o.SessionID != "" && len(k.ResumeIDArgs) > 0:
		session, sessionID, resumed = k.ResumeIDArgs, o.SessionID, true
	case o.Resume && o.ResumeByDir && len(k.ResumeArgs) > 0:
		session, resumed = k.ResumeArgs, true
	case o.Resume:
		return nil, "", fault.New(fault.Unsupported, "There is no conversation of %s to resume here", k.Name).
			WithHint("Start a new one with --fresh.")
	case len(k.SessionIDArgs) > 0:
		session, sessionID = k.SessionIDArgs, newUUID()
	}
	if sessionID != "" {
		o.Vars.UUID = sessionID
	}
	// The session part comes right after the fixed arguments, because for some agents it is a subcommand whose own
	// flags must follow it.
	parts := [][]string{{k.Command}, k.Args, k.AlwaysArgs}
	if o.MCPURL != "" {
		o.Vars.mcpURL = o.MCPURL
		parts = append(parts, k.MCPArgs)
	}
	parts = append(parts, session)
	if o.Unattended {
		parts = append(parts, k.UnattendedArgs)
	}
	if o.Yolo {
		parts = append(parts, k.YoloArgs)
	}
	if !resumed {
		parts = append(parts, k.NameArgs)
	}
	for i, part := range parts {
		for _, a := range part {
			if i > 0 { // the program name is no template
				a = o.Vars.expand(a)
			}
			argv = append(argv, a)
		}
	}
	return argv, sessionID, nil
}

var placeholder = regexp.MustCompile(`\{[A-Za-z_]+\}`)

// expand replaces the known placeholders of s.
func (v Vars) expand(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(m string) string {
		name := strings.ToUpper(strings.Trim(m, "{}"))
		if rest, ok := strings.CutPrefix(name, "WORKSPACE_"); ok {
			name = "TASK_" + rest
		}
		switch name {
		case "UUID":
			return v.UUID
		case "TASK_NAME":
			return v.TaskName
		case "TASK_SLUG":
			return v.TaskSlug
		case "TASK_ID":
			return v.TaskID
		case "TASK_PATH":
			return v.TaskPath
		case "BRANCH":
			return v.Branch
		case "PORT":
			return strconv.Itoa(v.Port)
		case "MCP_URL":
			return v.mcpURL
		}
		return m
	})
}

// newUUID returns a random version 4 UUID, the form that agents demand of a conversation id.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
