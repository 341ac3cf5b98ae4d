package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// G1, P25: the toolkit of the window is one that leaves WebKit's signals alone, and gives the clipboard's programs on a Mac a
// language in which text is UTF-8. Its own tooling offers an older one.
func TestG1Toolkit(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`github.com/wailsapp/wails/v2 v2\.(\d+)\.`).FindSubmatch(mod)
	if found == nil {
		t.Fatal("go.mod has another Wails than v2")
	}
	if minor, _ := strconv.Atoi(string(found[1])); minor < 16 {
		t.Errorf("go.mod has Wails v2.%d, and v2.16 is the oldest that will do", minor)
	}
}

// G3: every build of the window is for WebKitGTK 4.1, as distributions dropped 4.0.
func TestG3WebKit(t *testing.T) {
	for _, file := range []string{"Makefile", "build/window-test.sh", "build/check.sh", "bench/window/run.mjs"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "desktop,production") && !strings.Contains(line, "webkit2_41") {
				t.Errorf("%s builds a window for another WebKitGTK: %s", file, line)
			}
		}
		if !strings.Contains(string(text), "webkit2_41") {
			t.Errorf("%s builds no window", file)
		}
	}
}
