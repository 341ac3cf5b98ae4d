package core

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"termic/internal/fault"
	"termic/internal/store"
	"termic/sandbox"
)

// sayHow adds to the refusal of an entry the command that takes it out of its list.
func (c *Core) sayHow(ctx context.Context, t store.Task, agentID string, layers []sandbox.Layer, err error) error {
	f := fault.From(err)
	e, ok := f.Data["entry"].(sandbox.Entry)
	if !ok {
		return err
	}
	clean := *f // the datum is ours
	clean.Data = nil
	i := slices.IndexFunc(layers, func(l sandbox.Layer) bool { return l.Name == e.Layer })
	if i < 0 {
		return &clean
	}
	list, flag := layers[i].Read, "read"
	if e.Write {
		list, flag = layers[i].Write, "write"
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(p string) bool { return p == e.Text })
	words := " --" + flag + " " + shellWord(strings.Join(rest, ","))
	var command string
	switch e.Layer {
	case layerTask:
		command = "termic sandbox " + shellWord(t.Name) + words
	case layerProject:
		p, err := c.store.Project(ctx, t.ProjectID)
		if err != nil {
			return &clean
		}
		command = "termic project settings " + shellWord(p.Name) + words
	case layerSettings:
		command = setList("sandbox."+flag, rest)
	case layerAgent + agentID:
		command = setList("agents."+agentID+".sandbox_paths", rest)
	default:
		return &clean
	}
	return clean.WithHint("%s Without the entry: `%s`.", f.Hint, command)
}

// setList is the command that sets a list of the settings.
func setList(key string, list []string) string {
	raw, err := json.Marshal(list)
	if err != nil || len(list) == 0 {
		raw = []byte("[]")
	}
	return "termic settings set " + key + " " + shellWord(string(raw))
}

// checkGrants refuses in a list of the settings what the start of a cage would refuse.
func (c *Core) checkGrants(key string, value any) error {
	list, ok := value.([]string)
	if !ok || key != "sandbox.read" && key != "sandbox.write" && !(strings.HasPrefix(key, "agents.") && strings.HasSuffix(key, ".sandbox_paths")) {
		return nil
	}
	_, err := c.paths(list)
	return err
}
