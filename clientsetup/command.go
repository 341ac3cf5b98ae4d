package clientsetup

import (
	"strings"
)

// reading is a script that reads the token file $1. It holds no quotes of the single kind, so that any shell can hand it to sh. The token is
// read and printed by what is built into every sh: it stands in no argument of a program. What does not look like a token
// is not printed, so that the output is JSON always.
const reading = `t=; [ -f "$1" ] && { IFS= read -r t <"$1"; } 2>/dev/null; ` +
	`case $t in ""|*[!0-9A-Za-z]*) echo "termic: no token in $1. Is Termic running, with its MCP endpoint on?" >&2; exit 1;; esac; `

// script reads the token and prints it in [TokenHeader], or as a bearer's in Authorization.
func script(bearer bool) string {
	if bearer {
		return reading + `echo "{\"Authorization\":\"Bearer $t\"}"`
	}
	return reading + `echo "{\"` + TokenHeader + `\":\"$t\"}"`
}

// TokenCommand is the command that prints the headers with the token in path, as one JSON object of strings. It does not
// need Termic: without the file it prints nothing, says why on standard error and ends with 1. path is absolute. With
// bearer the header is Authorization, for a client that knows only by that one that a token was refused.
func TokenCommand(path string, bearer bool) string {
	return "/bin/sh -c '" + script(bearer) + "' termic " + quote(path)
}

// TermicCommand is the command that has Termic itself print the headers. The data folder goes along, since a client may run
// it without the variable that names it. bearer is as for [TokenCommand].
func TermicCommand(binary, folder string, bearer bool) string {
	return "TERMIC_DATA_DIR=" + quote(folder) + " " + quote(binary) + printHeaders(bearer)
}

// printHeaders are the arguments with which Termic prints the headers.
func printHeaders(bearer bool) string {
	if bearer {
		return " mcp headers --bearer"
	}
	return " mcp headers"
}

// readSource finds out what TokenCommand or TermicCommand put into a command; false if neither made it.
func readSource(command string) (source, bool) {
	for _, bearer := range []bool{false, true} {
		if path, ok := tokenPath(command, bearer); ok {
			return source{command: command, file: path, bearer: bearer}, true
		}
		if binary, folder, ok := termicParts(command, bearer); ok {
			return source{command: command, binary: binary, folder: folder, bearer: bearer}, true
		}
	}
	return source{}, false
}

// tokenPath returns the path in a command that TokenCommand made.
func tokenPath(command string, bearer bool) (path string, ok bool) {
	rest, ok := strings.CutPrefix(command, "/bin/sh -c '"+script(bearer)+"' termic ")
	if !ok {
		return "", false
	}
	path, rest, ok = cutQuoted(rest)
	return path, ok && rest == ""
}

// termicParts returns what TermicCommand put into a command.
func termicParts(command string, bearer bool) (binary, folder string, ok bool) {
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
	return binary, folder, ok && rest == printHeaders(bearer)
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
