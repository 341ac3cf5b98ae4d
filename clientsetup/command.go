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
	path, ok = unquote(rest)
	return path, ok && TokenCommand(path) == command
}

// quote makes one word of text for a POSIX shell. Everything but NUL goes through, control characters too, which is more
// than the shell library's quoting promises for such a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// unquote reads what quote wrote.
func unquote(word string) (string, bool) {
	inner, ok := strings.CutPrefix(word, "'")
	if !ok {
		return "", false
	}
	if inner, ok = strings.CutSuffix(inner, "'"); !ok {
		return "", false
	}
	return strings.ReplaceAll(inner, `'\''`, "'"), true
}
