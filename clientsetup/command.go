package clientsetup

import (
	"strings"
)

// script reads the token file $1. It holds no quotes of the single kind, so that any shell can hand it to sh. The token is
// read and printed by what is built into every sh: it stands in no argument of a program. What does not look like a token
// is not printed, so that the output is JSON always.
const script = `t=; [ -f "$1" ] && { IFS= read -r t <"$1"; } 2>/dev/null; ` +
	`case $t in ""|*[!0-9A-Za-z]*) echo "termic: no token in $1. Is Termic running, with its MCP endpoint on?" >&2; exit 1;; esac; ` +
	`echo "{\"` + TokenHeader + `\":\"$t\"}"`

// TokenCommand is the command that prints the headers with the token in path, as one JSON object of strings. It does not
// need Termic: without the file it prints nothing, says why on standard error and ends with 1. path is absolute.
func TokenCommand(path string) string { return "/bin/sh -c '" + script + "' termic " + quote(path) }

// TermicCommand is the command that has Termic itself print the headers. The data folder goes along, since a client may run
// it without the variable that names it.
func TermicCommand(binary, folder string) string {
	return "TERMIC_DATA_DIR=" + quote(folder) + " " + quote(binary) + " mcp headers"
}

// tokenPath returns the path in a command that TokenCommand made.
func tokenPath(command string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(command, "/bin/sh -c '"+script+"' termic ")
	if !ok {
		return "", false
	}
	path, rest, ok = cutQuoted(rest)
	return path, ok && rest == ""
}

// termicParts returns what TermicCommand put into a command.
func termicParts(command string) (binary, folder string, ok bool) {
	rest, ok := strings.CutPrefix(command, "TERMIC_DATA_DIR=")
	if !ok {
		return "", "", false
	}
	if folder, rest, ok = cutQuoted(rest); !ok {
		return "", "", false
	}
	if rest, ok = strings.CutPrefix(rest, " "); !ok {
		return "", "", false
	}
	binary, rest, ok = cutQuoted(rest)
	return binary, folder, ok && rest == " mcp headers"
}

// quote makes one word of text for a POSIX shell. Everything but NUL goes through, control characters too, for which the
// shell library has no spelling that every such shell knows.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", escaped) + "'" }

const escaped = `'\''`

// cutQuoted reads a word that quote wrote, and returns what follows it.
func cutQuoted(text string) (word, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, "'")
	for ok {
		var part string
		if part, rest, ok = strings.Cut(rest, "'"); !ok {
			break
		}
		word += part
		if !strings.HasPrefix(rest, escaped[1:]) {
			return word, rest, true
		}
		word, rest = word+"'", rest[len(escaped)-1:]
	}
	return "", "", false
}
