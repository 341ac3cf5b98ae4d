package verb

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"termic/internal/fault"
	"termic/internal/grant"
)

// together refuses parameters that exclude each other, and those that say nothing without another, in the words of the
// face that they were given on.
func together(offered []Param, fields map[string]json.RawMessage, face grant.Face) error {
	named := func(name string) string {
		i := slices.IndexFunc(offered, func(p Param) bool { return p.Name == name })
		if i < 0 {
			return name // the face does not offer it
		}
		return offered[i].nameOn(face)
	}
	for _, p := range offered {
		if !given(fields[p.Name]) {
			continue
		}
		for _, other := range p.Not {
			if given(fields[other]) {
				return fault.New(fault.InvalidArgument, "%s and %s exclude each other", p.nameOn(face), named(other)).WithHint("Give one of them.")
			}
		}
		if p.With != "" && !given(fields[p.With]) {
			return fault.New(fault.InvalidArgument, "%s has a meaning only with %s", p.nameOn(face), named(p.With))
		}
	}
	return nil
}

// given reports whether a value says anything: what stands for nothing is as good as absent.
func given(raw json.RawMessage) bool {
	return !slices.Contains([]string{"", "false", `""`, "0", "null"}, string(raw))
}

// nameOn is what people call a parameter on a face.
func (p Param) nameOn(face grant.Face) string {
	switch {
	case face != grant.CLI:
		return p.Name
	case p.Flag == "":
		return strings.ToUpper(p.Name)
	}
	return "--" + p.Flag
}

// quotedOn is nameOn in quotation marks where it is not a word of the command line.
func (p Param) quotedOn(face grant.Face) string {
	if face == grant.CLI {
		return p.nameOn(face)
	}
	return strconv.Quote(p.Name)
}

// nameOn is what people call a verb on a face.
func (v *Verb) nameOn(face grant.Face) string {
	if face == grant.CLI && v.CLI != "" {
		return v.CLI
	}
	return v.Name
}
