package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"termic/internal/theme"
)

// Kind is the type of a setting's value.
type Kind string

// Kinds of value.
const (
	Bool   Kind = "bool"
	Number Kind = "number" // whole
	Text   Kind = "text"
	Choice Kind = "choice" // one of Choices
	Path   Kind = "path"   // absolute, or below the home folder as ~/...
	List   Kind = "list"   // of texts
	Map    Kind = "map"    // of texts
)

// Setting is one key of the file: everything that the manual and the settings page say about it.
type Setting struct {
	Key     string   `json:"key"` // dotted
	Kind    Kind     `json:"kind"`
	Default any      `json:"default"` // bool, int64, string or []string
	Min     int64    `json:"min,omitempty"`
	Max     int64    `json:"max,omitempty"` // of a Number; of a Text, Path or item of a List: bytes
	Unit    string   `json:"unit,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Doc     string   `json:"doc"` // one sentence

	field func(*Settings) any      // pointer to where the value goes
	check func(text string) string // what is wrong with a text; may be nil
}

// Limits of texts and lists. They are far above use; they keep a broken file from filling the memory.
const (
	maxLine    = 1024      // bytes of a text of one line
	maxItem    = 4096      // bytes of one argument, path or pattern
	maxBody    = 900 << 10 // bytes of a prompt's body: the limit of a prompt on every face
	maxList    = 256       // items of a list or map
	maxAgents  = 200
	maxPrompts = 1000
	maxKeys    = 500
	maxNamed   = 50 // problems and unknown keys that are named; more are counted
)

// Table returns all settings that have one value each, in the order of the manual. The caller may change the result.
func Table() []Setting {
	return append([]Setting{
		{Key: "general.cli_enabled", Kind: Bool, Default: true,
			Doc:   "Whether the `termic` command may drive the app. It is read again for every call.",
			field: func(s *Settings) any { return &s.General.CLIEnabled }},
		{Key: "general.log_level", Kind: Choice, Default: "info", Choices: []string{"debug", "info", "warn", "error"},
			Doc:   "How much the app writes to its log.",
			field: func(s *Settings) any { return &s.General.LogLevel }},
		{Key: "general.editor", Kind: Text, Default: "", Max: maxItem,
			Doc:   "Command that opens a file: {FILE}, {LINE} and {DIR}, the worktree, are put in; without any of them the file comes last. An editor that lives in a terminal opens in a tab. Empty: the first editor that is there.",
			field: func(s *Settings) any { return &s.General.Editor }, check: oneLine},
		{Key: "tasks.dir", Kind: Path, Default: "~/termic/tasks", Max: maxItem,
			Doc:   "Folder for the worktrees of tasks: one folder per project in it, one per task in that.",
			field: func(s *Settings) any { return &s.Tasks.Dir }, check: notEmpty},
		{Key: "tasks.branch_prefix", Kind: Text, Default: "feature", Max: 100,
			Doc:   "What a new branch begins with, before a slash and the name of the task. Empty: the name alone.",
			field: func(s *Settings) any { return &s.Tasks.BranchPrefix }, check: branchPrefix},
		{Key: "tasks.fetch_before_create", Kind: Bool, Default: true,
			Doc:   "Whether the base branch is fetched before a task is made from it.",
			field: func(s *Settings) any { return &s.Tasks.FetchBeforeCreate }},
		{Key: "tasks.default_mode", Kind: Choice, Default: "worktree", Choices: []string{"worktree", "main"},
			Doc:   "Where a new task works: in a worktree of its own, or in the main checkout.",
			field: func(s *Settings) any { return &s.Tasks.DefaultMode }},
		{Key: "tasks.default_agent", Kind: Text, Default: "", Max: 64,
			Doc:   "Id of the agent of a new task. Empty: the first that is installed.",
			field: func(s *Settings) any { return &s.Tasks.DefaultAgent }, check: emptyOrID},
		{Key: "terminal.font_family", Kind: Text, Default: "", Max: maxLine,
			Doc:   "Font of the terminals. Empty: the system's monospace font.",
			field: func(s *Settings) any { return &s.Terminal.FontFamily }, check: oneLine},
		{Key: "terminal.font_size", Kind: Number, Default: int64(13), Min: 6, Max: 72, Unit: "pixels",
			Doc:   "Size of the terminals' font.",
			field: func(s *Settings) any { return &s.Terminal.FontSize }},
		{Key: "terminal.scrollback_lines", Kind: Number, Default: int64(5000), Min: 0, Max: 100_000, Unit: "lines",
			Doc:   "How many lines above the screen a terminal keeps in the window.",
			field: func(s *Settings) any { return &s.Terminal.ScrollbackLines }},
		{Key: "terminal.copy_on_select", Kind: Bool, Default: false,
			Doc:   "Whether selecting text in a terminal copies it.",
			field: func(s *Settings) any { return &s.Terminal.CopyOnSelect }},
		{Key: "terminal.clipboard", Kind: Choice, Default: "ask", Choices: []string{"ask", "allow", "never"},
			Doc:   "What becomes of it when a program in a terminal wants to put text on the clipboard (OSC 52). None is ever told what is on it.",
			field: func(s *Settings) any { return &s.Terminal.Clipboard }},
		{Key: "appearance.theme", Kind: Text, Default: "system", Max: 80,
			Doc:   "Colours of the window: system, dark, light, or custom: and the name of a file in the folder themes, without .json.",
			field: func(s *Settings) any { return &s.Appearance.Theme }, check: themeName},
		{Key: "appearance.review", Kind: Choice, Default: "side-by-side", Choices: []string{"side-by-side", "unified"},
			Doc:   "How a review shows differences.",
			field: func(s *Settings) any { return &s.Appearance.Review }},
		{Key: "notifications.needs_input", Kind: Bool, Default: true,
			Doc:   "Whether the desktop tells that an agent waits for you, while you do not look at the window.",
			field: func(s *Settings) any { return &s.Notify.NeedsInput }},
		{Key: "notifications.done", Kind: Bool, Default: true,
			Doc:   "Whether it tells that an agent has finished.",
			field: func(s *Settings) any { return &s.Notify.Done }},
		{Key: "notifications.failed", Kind: Bool, Default: true,
			Doc:   "Whether it tells that an agent ended by itself, or that a task could not be made.",
			field: func(s *Settings) any { return &s.Notify.Failed }},
		{Key: "mcp.enabled", Kind: Bool, Default: false,
			Doc:   "Whether MCP clients and agents may drive tasks through the endpoint on the loopback interface.",
			field: func(s *Settings) any { return &s.MCP.Enabled }},
		{Key: "mcp.toolsets", Kind: List, Default: []string{}, Max: 16,
			Doc:   "Sets of tools that the endpoint offers beside the core to whoever holds its own token or runs in a task without a cage: jobs, approvals, operations. Each takes room in every conversation. Named tokens have them anyway.",
			field: func(s *Settings) any { return &s.MCP.Toolsets }, check: toolset},
		{Key: "mcp.resources", Kind: Bool, Default: false,
			Doc:   "Whether the endpoint also offers tasks, jobs and approvals as resources, which clients can attach to a conversation by their addresses.",
			field: func(s *Settings) any { return &s.MCP.Resources }},
		{Key: "sandbox.default_mode", Kind: Choice, Default: "off", Choices: []string{"off", "monitor", "enforce-fs", "enforce"},
			Doc:   "Cage of a new task when none is named.",
			field: func(s *Settings) any { return &s.Sandbox.DefaultMode }},
		{Key: "sandbox.read", Kind: List, Default: []string{}, Max: maxItem,
			Doc:   "Files and folders that every cage may read as well.",
			field: func(s *Settings) any { return &s.Sandbox.Read }, check: oneLine},
		{Key: "sandbox.write", Kind: List, Default: []string{}, Max: maxItem,
			Doc:   "Files and folders that every cage may change as well.",
			field: func(s *Settings) any { return &s.Sandbox.Write }, check: oneLine},
		{Key: "sandbox.hosts", Kind: List, Default: []string{}, Max: maxLine,
			Doc:   "Hosts that every cage may reach as well.",
			field: func(s *Settings) any { return &s.Sandbox.Hosts }, check: oneLine},
		{Key: "sandbox.record_reads", Kind: Bool, Default: false,
			Doc:   "Whether refused reads of files are recorded too. Programs that open many files take up to twice their time.",
			field: func(s *Settings) any { return &s.Sandbox.RecordReads }},
		{Key: "sandbox.deep_monitor", Kind: Bool, Default: false,
			Doc:   "Whether the mode monitor also records connections and writing, on Linux. Programs such as sudo and ping lose their rights in it.",
			field: func(s *Settings) any { return &s.Sandbox.DeepMonitor }},
		{Key: "sandbox.memory_mib", Kind: Number, Default: int64(0), Min: 0, Max: 1 << 24, Unit: "MiB",
			Doc:   "Memory that a cage may take before its programs are refused more, or ended. 0: three quarters of the machine's. Less than 256 counts as 256.",
			field: func(s *Settings) any { return &s.Sandbox.MemoryMiB }},
		{Key: "sandbox.processes", Kind: Number, Default: int64(4096), Min: 64, Max: 1 << 22, Unit: "processes",
			Doc:   "Processes and threads that a cage may have at once.",
			field: func(s *Settings) any { return &s.Sandbox.Processes }},
		{Key: "queue.interval_seconds", Kind: Number, Default: int64(10), Min: 0, Max: 120, Unit: "seconds",
			Doc:   "Least time between two queued prompts to one tab.",
			field: func(s *Settings) any { return &s.Queue.IntervalSeconds }},
		{Key: "git.path", Kind: Path, Default: "", Max: maxItem,
			Doc:   "The git program. Empty: the one that PATH finds.",
			field: func(s *Settings) any { return &s.Git.Path }},
	}, ofReleases()...)
}

// find returns the setting with that key.
func find(key string) (Setting, bool) {
	for _, s := range Table() {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// accept checks a value as the file has it and returns it, or says in words that follow the key why not.
func (s Setting) accept(v any) (good any, why string) {
	switch s.Kind {
	case Bool:
		if _, ok := v.(bool); !ok {
			return nil, "must be true or false"
		}
		return v, ""
	case Number:
		n, ok := wholeNumber(v)
		if !ok {
			return nil, fmt.Sprintf("must be a whole number from %d to %d", s.Min, s.Max)
		}
		if n < s.Min || n > s.Max {
			return nil, fmt.Sprintf("must be from %d to %d, and is %d", s.Min, s.Max, n)
		}
		return n, ""
	case List:
		return Field{max: int(s.Max), check: s.check}.acceptList(v)
	}
	text, ok := v.(string)
	switch {
	case !ok && s.Kind == Choice:
		return nil, "must be one of " + strings.Join(s.Choices, ", ")
	case !ok:
		return nil, "must be a text in quotes"
	case s.Kind == Choice && !slices.Contains(s.Choices, text):
		return nil, "must be one of " + strings.Join(s.Choices, ", ")
	case s.Max > 0 && int64(len(text)) > s.Max:
		return nil, fmt.Sprintf("must have at most %d bytes", s.Max)
	}
	if s.Kind == Path {
		if why := path(text); why != "" {
			return nil, why
		}
	}
	if s.check != nil {
		if why := s.check(text); why != "" {
			return nil, why
		}
	}
	return text, ""
}

// wholeNumber takes what TOML and JSON call a whole number.
func wholeNumber(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64: // JSON has no other numbers
		return int64(n), n == float64(int64(n)) && n > -1e15 && n < 1e15
	}
	return 0, false
}

// store puts an accepted value where it belongs; home replaces ~.
func (s Setting) store(to *Settings, v any, home string) {
	switch p := s.field(to).(type) {
	case *bool:
		*p = v.(bool)
	case *int:
		*p = int(v.(int64))
	case *[]string:
		*p = slices.Clone(v.([]string))
	case *string:
		*p = v.(string)
		if s.Kind == Path {
			*p = expand(*p, home)
		}
	}
}

// expand replaces ~ at the beginning of a path.
func expand(p, home string) string {
	if p == "~" {
		return home
	}
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return p
}

func path(text string) string {
	if why := oneLine(text); why != "" {
		return why
	}
	if text != "" && text != "~" && !strings.HasPrefix(text, "~/") && !filepath.IsAbs(text) {
		return "must be an absolute path, or begin with ~/"
	}
	return ""
}

func notEmpty(text string) string {
	if text == "" {
		return "must not be empty"
	}
	return ""
}

// toolset refuses a set of tools that there is not.
func toolset(text string) string {
	if text != "jobs" && text != "approvals" && text != "operations" {
		return "must be one of: jobs, approvals, operations"
	}
	return ""
}

// oneLine refuses control characters: such a text is shown, and passed to programs.
func oneLine(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "must be one line without control characters"
	}
	return ""
}

// branchPrefix refuses what git would refuse at the beginning of a branch name.
func branchPrefix(text string) string {
	const why = "must be usable at the beginning of a branch name"
	if text == "" {
		return ""
	}
	for _, part := range strings.Split(text, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock") {
			return why
		}
	}
	if strings.HasPrefix(text, "-") || strings.Contains(text, "..") || strings.Contains(text, "@{") || oneLine(text) != "" ||
		strings.ContainsAny(text, " ~^:?*[\\") {
		return why
	}
	return ""
}

// themeName takes the window's own themes, and those of the person by the names of their files.
func themeName(text string) string {
	if file, ok := strings.CutPrefix(text, "custom:"); ok && theme.ValidID(file) {
		return ""
	}
	if !slices.Contains([]string{"system", "dark", "light"}, text) {
		return "must be system, dark, light, or custom: and the name of a theme's file"
	}
	return ""
}

func emptyOrID(text string) string {
	if text == "" {
		return ""
	}
	return id(text)
}

// promptID also takes the id of a prompt that comes with the app: an entry with it changes that one.
func promptID(text string) string { return id(strings.TrimPrefix(text, "builtin:")) }

// id is the form of the names of agents and prompts: they stand in keys, arguments and environments.
func id(text string) string {
	const why = "must be 1 to 64 characters of a-z, A-Z, 0-9, - and _, and begin with a letter or digit"
	if text == "" || len(text) > 64 || text[0] == '-' || text[0] == '_' {
		return why
	}
	for _, c := range []byte(text) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return why
		}
	}
	return ""
}
