package settings

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Field is one key of an [[agents]] or [[prompts]] entry.
type Field struct {
	Key  string `json:"key"` // within the entry, dotted
	Kind Kind   `json:"kind"`
	Doc  string `json:"doc"`

	max   int // bytes of a text or of each item
	check func(text string) string
	agent func(*Agent) any
	note  func(*Prompt) any
}

// AgentFields returns the keys of an [[agents]] entry.
func AgentFields() []Field {
	return []Field{
		{Key: "id", Kind: Text, Doc: "Name of the agent in commands. With the id of a built-in agent, the entry overrides only the keys that it has.",
			max: 64, check: id, agent: func(a *Agent) any { return &a.ID }},
		{Key: "name", Kind: Text, Doc: "Name that is shown.", max: 100, check: oneLine, agent: func(a *Agent) any { return &a.Name }},
		{Key: "command", Kind: Text, Doc: "Program: an absolute path, one from `~/`, or a name that PATH finds.", max: maxItem, check: oneLine, agent: func(a *Agent) any { return &a.Command }},
		{Key: "args", Kind: List, Doc: "Arguments that it always gets.", max: maxItem, agent: func(a *Agent) any { return &a.Args }},
		{Key: "env", Kind: Map, Doc: "Variables that are added to its environment.", max: maxItem, agent: func(a *Agent) any { return &a.Env }},
		{Key: "sandbox_paths", Kind: List, Doc: "Paths that it may also write in a cage.", max: maxItem, check: oneLine, agent: func(a *Agent) any { return &a.SandboxPaths }},
		{Key: "sandbox_hosts", Kind: List, Doc: "Hosts that it may also reach from a cage.", max: maxLine, check: oneLine, agent: func(a *Agent) any { return &a.SandboxHosts }},
		{Key: "return_login", Kind: Bool, Doc: "Whether a login that it refreshed in a cage is taken back to your own files. It is, unless this says no.", agent: func(a *Agent) any { return &a.ReturnLogin }},
		{Key: "disabled", Kind: Bool, Doc: "Whether it is hidden.", agent: func(a *Agent) any { return &a.Disabled }},
		{Key: "work_done", Kind: Bool, Doc: "Whether it can be seen to finish; without that it cannot be waited for.", agent: func(a *Agent) any { return &a.WorkDone }},
		{Key: "resume_args", Kind: List, Doc: "Arguments that continue the last conversation of a folder.", max: maxItem, agent: func(a *Agent) any { return &a.ResumeArgs }},
		{Key: "session_id_args", Kind: List, Doc: "Arguments that start a conversation with the id {UUID}.", max: maxItem, agent: func(a *Agent) any { return &a.SessionIDArgs }},
		{Key: "resume_id_args", Kind: List, Doc: "Arguments that continue the conversation {UUID}.", max: maxItem, agent: func(a *Agent) any { return &a.ResumeIDArgs }},
		{Key: "yolo_args", Kind: List, Doc: "Arguments that switch its own permission prompts off.", max: maxItem, agent: func(a *Agent) any { return &a.YoloArgs }},
		{Key: "mcp_args", Kind: List, Doc: "Arguments that connect one start of it to the MCP endpoint at {MCP_URL}, with the token that it has in TERMIC_MCP_TOKEN.", max: maxItem, agent: func(a *Agent) any { return &a.MCPArgs }},
		{Key: "mcp_connect", Kind: Text, Doc: "When those are used: caged (in a cage whose MCP box is checked), always (wherever it has a token; the tools take room in its conversations) or never.", max: 16, check: connect, agent: func(a *Agent) any { return &a.MCPConnect }},
		{Key: "signals.busy", Kind: List, Doc: "Regular expressions for its title while it works.", max: maxLine, check: pattern, agent: func(a *Agent) any { return &a.Signals.Busy }},
		{Key: "signals.idle", Kind: List, Doc: "Regular expressions for its title when it has finished.", max: maxLine, check: pattern, agent: func(a *Agent) any { return &a.Signals.Idle }},
		{Key: "signals.attention", Kind: List, Doc: "Regular expressions for its title and notices when it waits for a person.", max: maxLine, check: pattern, agent: func(a *Agent) any { return &a.Signals.Attention }},
		{Key: "signals.pending", Kind: List, Doc: "Regular expressions for lines of its screen while work goes on behind a title that looks idle.", max: maxLine, check: pattern, agent: func(a *Agent) any { return &a.Signals.Pending }},
	}
}

// PromptFields returns the keys of a [[prompts]] entry.
func PromptFields() []Field {
	return []Field{
		{Key: "id", Kind: Text, Doc: "Name of the prompt in commands. With the id of a built-in prompt, the entry takes its place.",
			max: 72, check: promptID, note: func(p *Prompt) any { return &p.ID }},
		{Key: "title", Kind: Text, Doc: "Name that is shown.", max: 200, check: oneLine, note: func(p *Prompt) any { return &p.Title }},
		{Key: "body", Kind: Text, Doc: "Text that is sent.", max: maxBody, note: func(p *Prompt) any { return &p.Body }},
		{Key: "disabled", Kind: Bool, Doc: "Whether it is hidden.", note: func(p *Prompt) any { return &p.Disabled }},
	}
}

// connect refuses what is no answer to when an agent is connected.
func connect(text string) string {
	if !slices.Contains([]string{"caged", "always", "never"}, text) {
		return "must be caged, always or never"
	}
	return ""
}

// pattern refuses a regular expression that does not compile.
func pattern(text string) string {
	if _, err := regexp.Compile(text); err != nil {
		return "must be a regular expression"
	}
	return ""
}

// accept checks a value of the field and returns it as bool, string, []string or map[string]string.
func (f Field) accept(v any) (good any, why string) {
	switch f.Kind {
	case Bool:
		if _, ok := v.(bool); !ok {
			return nil, "must be true or false"
		}
		return v, ""
	case List:
		return f.acceptList(v)
	case Map:
		return f.acceptMap(v)
	}
	text, ok := v.(string)
	if !ok {
		return nil, "must be a text in quotes"
	}
	return text, f.textWrong(text)
}

func (f Field) textWrong(text string) string {
	if len(text) > f.max {
		return fmt.Sprintf("must have at most %d bytes", f.max)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return "must not hold a NUL byte"
	}
	if f.check != nil {
		return f.check(text)
	}
	return ""
}

func (f Field) acceptList(v any) (any, string) {
	items, ok := v.([]any)
	if texts, is := v.([]string); is {
		items, ok = nil, true
		for _, t := range texts {
			items = append(items, t)
		}
	}
	if !ok {
		return nil, "must be a list of texts"
	}
	if len(items) > maxList {
		return nil, fmt.Sprintf("must have at most %d items", maxList)
	}
	list := []string{}
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, "must be a list of texts"
		}
		if why := f.textWrong(text); why != "" {
			return nil, "has an item that " + why
		}
		list = append(list, text)
	}
	return list, ""
}

func (f Field) acceptMap(v any) (any, string) {
	items, ok := v.(map[string]any)
	if texts, is := v.(map[string]string); is {
		items, ok = map[string]any{}, true
		for k, t := range texts {
			items[k] = t
		}
	}
	if !ok {
		return nil, "must be a table of texts"
	}
	if len(items) > maxList {
		return nil, fmt.Sprintf("must have at most %d entries", maxList)
	}
	m := map[string]string{}
	for k, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, "must be a table of texts"
		}
		if k == "" || strings.ContainsAny(k, "=\x00") {
			return nil, "has a name that no variable can have"
		}
		if why := f.textWrong(text); why != "" {
			return nil, "has an entry that " + why
		}
		m[k] = text
	}
	return m, ""
}

// put stores an accepted value at p.
func put(p, v any) {
	switch p := p.(type) {
	case *string:
		*p = v.(string)
	case *bool:
		*p = v.(bool)
	case **bool:
		b := v.(bool)
		*p = &b
	case *[]string:
		*p = slices.Clone(v.([]string))
	case *map[string]string:
		*p = maps.Clone(v.(map[string]string))
	}
}

// take reads what put stored, and whether there is anything.
func take(p any) (v any, set bool) {
	switch p := p.(type) {
	case *string:
		return *p, *p != ""
	case *bool:
		return *p, *p
	case **bool:
		if *p == nil {
			return nil, false
		}
		return **p, true
	case *[]string:
		return *p, *p != nil
	case *map[string]string:
		return *p, *p != nil
	}
	return nil, false
}

// clone copies everything that the values share.
func (s Settings) clone() Settings {
	s.Agents = slices.Clone(s.Agents)
	for i := range s.Agents {
		old := s.Agents[i]
		for _, f := range AgentFields() {
			if v, set := take(f.agent(&old)); set {
				put(f.agent(&s.Agents[i]), v)
			}
		}
	}
	s.Prompts = slices.Clone(s.Prompts)
	s.Sandbox.Read, s.Sandbox.Write, s.Sandbox.Hosts = slices.Clone(s.Sandbox.Read), slices.Clone(s.Sandbox.Write), slices.Clone(s.Sandbox.Hosts)
	s.Keys = maps.Clone(s.Keys)
	return s
}
