package attack

import "testing"

// TestTableIsSound checks the table by itself, on every system.
func TestTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Table() {
		if seen[r.Name] {
			t.Errorf("%s has two rows", r.Name)
		}
		seen[r.Name] = true
		if r.Does == "" {
			t.Errorf("%s does not say what it does", r.Name)
		}
		if r.Want[Open] != Out {
			t.Errorf("%s: without a cage it must get out, or it proves nothing", r.Name)
		}
		for c := FilesOnly; c < Columns; c++ {
			if r.Want[c] != Out && r.Want[c] != Held {
				t.Errorf("%s has no verdict for %s", r.Name, c)
			}
			if r.Want[c] == Out && r.Why == "" {
				t.Errorf("%s gets out in %s and does not say why", r.Name, c)
			}
		}
		if r.Want[FilesOnly] == Held && (r.Want[Full] == Out || r.Want[FullMCP] == Out) {
			t.Errorf("%s: the tighter mode holds less", r.Name)
		}
	}
	if len(seen) < 80 {
		t.Errorf("%d rows are too few", len(seen))
	}
}
