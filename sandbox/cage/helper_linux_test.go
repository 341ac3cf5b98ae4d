package cage

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPickHelper: the one of the profile where AppArmor wants one, if only root could have put it there; otherwise the one beside us.
func TestPickHelper(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can make a program of the administrator's")
	}
	dir := t.TempDir()
	file := func(name string, mode os.FileMode, owner int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, owner, owner); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	beside, good := file("beside", 0o755, 1500), file("good", 0o755, 0)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		beside, profiled string
		restricted       bool
		want             string
	}{
		{beside, good, false, beside},
		{beside, good, true, good},
		{filepath.Join(dir, "nothing"), good, true, good},
		{beside, filepath.Join(dir, "nothing"), true, beside},
		{beside, file("user's", 0o755, 1500), true, beside},
		{beside, file("group's", 0o775, 0), true, beside},
		{beside, file("everybody's", 0o757, 0), true, beside},
		{beside, file("no program", 0o644, 0), true, beside},
		{beside, link, true, beside},
		{beside, dir, true, beside},
		{file("plain", 0o644, 0), good, false, ""},
		{dir, good, false, ""},
		{filepath.Join(dir, "nothing"), good, false, ""},
	} {
		if got := pickHelper(c.beside, c.profiled, c.restricted); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
