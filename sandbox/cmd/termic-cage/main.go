// Command termic-cage is the helper that the app starts for each cage. It lies beside the app, as a small static program, so
// that a profile of a security module can name its path and a cage does not load what the app's window needs.
//
// It is of no use to a person, and says so.
package main

import (
	"os"

	"termic/sandbox/cage/inside"
)

func main() {
	inside.Main()
	_, _ = os.Stderr.WriteString("termic-cage is started by Termic, for each cage. It is not a command for people; see `termic help`.\n")
	os.Exit(64)
}
