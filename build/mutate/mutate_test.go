package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// door is a package that decides, with tests that hold all of it but one edge and one order.
var door = map[string]string{
	"go.mod": "module example.test\n\ngo 1.26\n",
	"door/door.go": `package door

// Door counts who came in.
type Door struct{ in int }

// Enter lets grown-ups in who are not too many.
func (d *Door) Enter(age, most int, banned bool) bool {
	if age < 18 || // a comment ends the line
		banned {
		return false
	}
	if d.in >= most {
		return false
	}
	d.in++
	return true
}

// Seats are at most ten.
func Seats(n int) int { return min(n, 10) }

// Open is open in the day.
func Open(hour int) (open bool, why string) {
	switch {
	case hour < 6:
		return false, "night"
	case !(hour < 22):
		return false, "late"
	}
	return true, ""
}

// Unused is called by no test.
func Unused(a bool) bool { return !a }
`,
	"door/door_test.go": `package door

import "testing"

func TestEnter(t *testing.T) {
	d := &Door{}
	if d.Enter(18, 1, true) || d.Enter(3, 1, false) || !d.Enter(30, 1, false) || d.Enter(30, 1, false) {
		t.Error("wrong")
	}
}

func TestSeats(t *testing.T) {
	if Seats(3) != 3 || Seats(30) != 10 {
		t.Error("wrong")
	}
}

func TestOpen(t *testing.T) {
	for hour, want := range map[int]string{5: "night", 6: "", 21: "", 22: "late"} {
		if open, why := Open(hour); open != (want == "") || why != want {
			t.Error("wrong")
		}
	}
}
`,
	listFile: "# reasons\n\ndoor/door.go Unused | !a -> a // nobody calls it\n",
}

// house writes a module and goes there.
func house(t *testing.T, files map[string]string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED: tests are started by a POSIX shell")
	}
	t.Chdir(t.TempDir())
	for name, text := range files {
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

var doorPlan = []target{{"door", "door.go", "door"}}

var quick = options{budget: 5 * time.Minute, most: time.Minute, workers: 2}

// TestWhatNobodyNotices: exactly the changes that the tests of a package do not see are named, with their places, and nothing in the tree is
// changed.
func TestWhatNobodyNotices(t *testing.T) {
	house(t, door)
	var out bytes.Buffer
	err := mutate(t.Context(), &out, doorPlan, quick)
	var survivors []string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "door/") {
			survivors = append(survivors, strings.TrimSpace(line))
		}
	}
	want := "door/door.go:8: survived: door/door.go Door.Enter | age < 18 -> age <= 18"
	if !slices.Equal(survivors, []string{want}) || !errors.Is(err, errSurvived) {
		t.Errorf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "| door | ") {
		t.Error("there is no table")
	}
	for name, text := range door {
		if b, err := os.ReadFile(name); err != nil || string(b) != text {
			t.Errorf("%s was changed: %v", name, err)
		}
	}
}

// TestAllIsWell: when each survivor is in the list there is no error, and a line that has lost its mutant is one.
func TestAllIsWell(t *testing.T) {
	files := map[string]string{}
	for name, text := range door {
		files[name] = text
	}
	files[listFile] += "door/door.go Door.Enter | age < 18 -> age <= 18 // for this test\n"
	house(t, files)
	var out bytes.Buffer
	if err := mutate(t.Context(), &out, doorPlan, quick); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	listed := files[listFile] + "door/door.go Gone | a -> b // it was here once\ndoor/door.go Seats | min(n, 10) -> max(n, 10) // a test does notice it\n"
	if err := os.WriteFile(listFile, []byte(listed), 0o644); err != nil {
		t.Fatal(err)
	}
	all := quick
	all.all = true
	err := mutate(t.Context(), &out, doorPlan, all)
	for _, want := range []string{"in the list, but no mutant: door/door.go Gone | a -> b", "is in the list, but a test notices it (door.TestSeats): door/door.go Seats"} {
		if !errors.Is(err, errSurvived) || !strings.Contains(out.String(), want) {
			t.Errorf("no word of %q: %v\n%s", want, err, out.String())
		}
	}
}

// TestTheTimeIsOver: what was not tried is told, and is no success.
func TestTheTimeIsOver(t *testing.T) {
	house(t, door)
	o := quick
	o.budget = time.Nanosecond
	var out bytes.Buffer
	if err := mutate(t.Context(), &out, doorPlan, o); !errors.Is(err, errSurvived) || !strings.Contains(out.String(), "the time was over before") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestARedTestIsNoMeasure: tests that fail by themselves, and lists that cannot be read, are told before anything is measured.
func TestARedTestIsNoMeasure(t *testing.T) {
	for says, change := range map[string]func(files map[string]string){
		"TestSeats of door fails without a mutant": func(f map[string]string) {
			f["door/door_test.go"] = strings.ReplaceAll(door["door/door_test.go"], "!= 10", "!= 11")
		},
		"build the tests of door": func(f map[string]string) { f["door/door.go"] += "\nfunc broken() { undefined() }\n" },
		"parse what shall be":     func(f map[string]string) { f["door/door.go"] = "nonsense" },
		"without ` // ` and a reason": func(f map[string]string) {
			f[listFile] = "door/door.go Unused | !a -> a\n"
		},
		"stands here twice": func(f map[string]string) { f[listFile] += f[listFile] },
	} {
		files := map[string]string{}
		for name, text := range door {
			files[name] = text
		}
		change(files)
		t.Run(says, func(t *testing.T) {
			house(t, files)
			var out bytes.Buffer
			if err := mutate(t.Context(), &out, doorPlan, quick); err == nil || errors.Is(err, errSurvived) || !strings.Contains(err.Error(), says) {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
}

// TestThePlanIsWhole: every file that it names is there, and every package of tests.
func TestThePlanIsWhole(t *testing.T) {
	for _, p := range plan {
		for _, name := range strings.Fields(p.files) {
			if _, err := os.Stat(filepath.Join("../..", p.pkg, name)); err != nil {
				t.Error(err)
			}
		}
		if !slices.Contains(strings.Fields(p.tests), p.pkg) {
			t.Errorf("%s has no tests of its own in the plan", p.pkg)
		}
	}
	if _, err := readList("equivalent.txt"); err != nil {
		t.Error(err)
	}
}
