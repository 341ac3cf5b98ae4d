package mcp

import (
	"regexp"
	"strings"

	"termic/internal/grant"
	"termic/internal/verb"
)

var (
	commandInHint = regexp.MustCompile("`termic ([a-z]+(?: [a-z]+)?)[^`]*`")
	flagInHint    = regexp.MustCompile(`--[a-z][a-z-]*`)
)

// toolWords puts a hint into the words of a caller who has tools: hints are written for somebody at a shell. A command
// becomes the tool of the same verb, a flag its parameter. What has no tool stays as it is: it is the owner's to do.
func toolWords(hint string) string {
	hint = commandInHint.ReplaceAllStringFunc(hint, func(command string) string {
		words := commandInHint.FindStringSubmatch(command)[1]
		for _, path := range []string{words, strings.SplitN(words, " ", 2)[0]} {
			for _, v := range verb.All() {
				if v.CLI == path && v.On(grant.MCP) {
					return v.Name
				}
			}
		}
		return command
	})
	if strings.Contains(hint, "`") {
		return hint // its flags belong to a command
	}
	return flagInHint.ReplaceAllStringFunc(hint, func(flag string) string {
		for _, v := range verb.All() {
			if !v.On(grant.MCP) {
				continue
			}
			for _, p := range v.ParamsOn(grant.MCP) {
				if p.Flag == flag[2:] {
					return p.Name
				}
			}
		}
		return flag
	})
}
