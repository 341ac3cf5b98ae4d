package attack

import (
	"encoding/json"
	"os"
	"testing"

	"termic/sandbox/cage"
)

// envPrepared holds what root prepared, as JSON, for the process that does the tests.
const envPrepared = "TERMIC_ATTACK_PREPARED"

// prepared is what only root can make, and where the tests shall make the rest.
type prepared struct {
	Root      string // folder for everything, of the user who is tested
	Program   string // this program, where that user can read it
	Alias     string // second mount of Root; empty = none
	Setuid    string // a program with the bit, in Root; empty = none
	FileCaps  string // a program whose file has a capability, beside it; empty = none
	OptSocket string // the same in /opt
	EtcSecret string // a file in /etc for the user's group alone, with Secret in it
	SysSocket string // a socket in /run that answers Secret; empty = none
	Secret    string
}

func TestMain(m *testing.M) {
	cage.BeChild()
	Main()
	os.Exit(m.Run())
}

func readPrepared() (p prepared, ok bool) {
	text := os.Getenv(envPrepared)
	return p, text != "" && json.Unmarshal([]byte(text), &p) == nil
}

func TestEveryProbeHasARow(t *testing.T) {
	rows, probes := map[string]bool{}, map[string]bool{}
	for _, r := range Table() {
		rows[r.Name] = true
	}
	for _, name := range Names() {
		probes[name] = true
		if !rows[name] {
			t.Errorf("probe %s has no row", name)
		}
	}
	for name := range rows {
		if !probes[name] {
			t.Errorf("row %s has no probe", name)
		}
	}
}
