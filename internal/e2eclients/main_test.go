//go:build clients

package e2eclients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"termic/sandbox/cage"
)

// client is one real program: what its configuration is made of differs, what is asked of it does not.
type client struct {
	id      string // of the agent in Termic
	command string // absolute path
}

// clients are the programs, found by TestMain.
var clients []client

func TestMain(m *testing.M) {
	cage.BeChild() // does not return in the first process of a cage
	bin := os.Getenv("TERMIC_E2E_CLIENTS")
	if bin == "" {
		fmt.Fprintln(os.Stderr, "these tests run the real clients; start them with `make e2e-clients`, which fetches those")
		os.Exit(1)
	}
	for _, id := range []string{"claude", "codex"} {
		c := client{id: id, command: filepath.Join(bin, id)}
		out, err := exec.Command(c.command, "--version").CombinedOutput()
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s does not run: %v\n%s", c.command, err, out)
			os.Exit(1)
		}
		fmt.Printf("%s: %s", id, out)
		clients = append(clients, c)
	}
	os.Exit(m.Run())
}

// each runs a test with every client.
func each(t *testing.T, test func(t *testing.T, c client)) {
	for _, c := range clients {
		t.Run(c.id, func(t *testing.T) { test(t, c) })
	}
}
