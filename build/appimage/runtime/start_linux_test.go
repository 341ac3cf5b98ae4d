package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestItStarts: with what the specification puts around it, from the folder that it unpacked, and the second time without unpacking.
func TestItStarts(t *testing.T) {
	users(t, func(t *testing.T, i *installed) {
		link := filepath.Join(filepath.Dir(i.file), "termic")
		must(t, os.Symlink(i.file, link))
		out, complaint, code := i.finish(i.command(link, "new", "two words", "--appimage-version"))
		dir := i.only()
		want := fmt.Sprintf("APPDIR=%s\nAPPIMAGE=%s\nARGV0=%s\nOWD=%s\nzero=%s/AppRun\nargument=new\nargument=two words\nargument=--appimage-version\n", dir, i.file, link, i.home, dir)
		if out != want || complaint != "" || code != 0 {
			t.Errorf("%d %s\nsaid\n%swant\n%s", code, complaint, out, want)
		}
		before, err := os.Stat(filepath.Join(dir, "usr/bin/program"))
		must(t, err)
		if out, _, code := i.run("fail"); code != 7 || !strings.Contains(out, "APPDIR="+dir) {
			t.Errorf("the second start: %d %s", code, out)
		}
		if out, _, code := i.run("--appimage-extract-and-run", "fail"); code != 7 || !strings.HasSuffix(out, "argument=fail\n") {
			t.Errorf("extract and run: %d %s", code, out)
		}
		after, err := os.Stat(filepath.Join(i.only(), "usr/bin/program"))
		must(t, err)
		if !os.SameFile(before, after) {
			t.Error("it was unpacked twice")
		}
		if st, err := os.Stat(i.cache()); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("the cache: %v %v", st.Mode(), err)
		}
	})
}

// TestOptions of the specification.
func TestOptions(t *testing.T) {
	i := install(t, -1)
	out, _, _ := i.run("--appimage-offset")
	var offset int
	if _, err := fmt.Sscan(out, &offset); err != nil || !bytes.HasPrefix(sealed[offset:], []byte("hsqs")) || string(sealed[8:11]) != "AI\x02" {
		t.Errorf("the file system is at %q: %v", out, err)
	}
	if out, _, code := i.run("--appimage-version"); out != "Version: 1.2.3\n" || code != 0 {
		t.Errorf("version: %q", out)
	}
	if out, _, code := i.run("--appimage-help"); !strings.Contains(out, "--appimage-extract") || code != 0 {
		t.Errorf("help: %q", out)
	}
	for _, option := range []string{"--appimage-signature", "--appimage-updateinformation"} {
		if out, complaint, code := i.run(option); out+complaint != "" || code != 0 {
			t.Errorf("%s: %q %q %d", option, out, complaint, code)
		}
	}
	i.refused(i.command(i.file, "--appimage-portable-home"), "There is no option --appimage-portable-home", "--appimage-help")
	if f := i.folders(); len(f) > 0 {
		t.Errorf("something was unpacked: %q", f)
	}
}

// TestExtract: all of it, what a pattern names, and nothing over what is there.
func TestExtract(t *testing.T) {
	users(t, func(t *testing.T, i *installed) {
		out, complaint, code := i.run("--appimage-extract")
		if code != 0 || !strings.Contains(out, "squashfs-root/usr/bin/program\n") {
			t.Fatalf("%d %s %s", code, out, complaint)
		}
		root := filepath.Join(i.home, "squashfs-root")
		if diff, err := exec.Command("diff", "-r", "--no-dereference", appDir(t, "first"), root).CombinedOutput(); err != nil {
			t.Errorf("it differs: %v\n%s", err, diff)
		}
		if out, _, code := i.finish(i.command(filepath.Join(root, "AppRun"), "x")); code != 0 || !strings.Contains(out, "argument=x") {
			t.Errorf("it does not start: %d %s", code, out)
		}
		i.refused(i.command(i.file, "--appimage-extract"), "There is a squashfs-root in this folder already")
		for pattern, want := range map[string]string{
			"usr/bin/*": "usr/bin/program", "AppRun": "AppRun", "./usr": "usr usr/bin usr/bin/program", "*/bin": "usr/bin usr/bin/program", "nothing": "",
		} {
			must(t, os.RemoveAll(root))
			if _, complaint, code := i.run("--appimage-extract", pattern); code != 0 {
				t.Errorf("%s: %s", pattern, complaint)
			}
			for _, n := range []string{"AppRun", "link", "usr/bin/program"} {
				_, err := os.Lstat(filepath.Join(root, n))
				if is := err == nil; is != strings.Contains(" "+want+" ", " "+n+" ") {
					t.Errorf("%s: %s is there: %v", pattern, n, is)
				}
			}
		}
		must(t, os.RemoveAll(root))
		i.refused(i.command(i.file, "--appimage-extract", "[a"), `The pattern "[a" is none`)
	})
}

// TestMount: it can be looked into with squashfuse, and the mount goes when the program is told to end.
func TestMount(t *testing.T) {
	i := install(t, -1)
	c := i.command(i.file, "--appimage-mount")
	c.Env = append(c.Env, "PATH=/nowhere")
	i.refused(c, "There is no squashfuse here", "--appimage-extract")
	if _, err := exec.LookPath("squashfuse"); err != nil {
		t.Skip("NOT TESTED: there is no squashfuse")
	}
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skip("NOT TESTED: this machine lets nobody mount with FUSE")
	} else {
		must(t, f.Close())
	}
	c = i.command(i.file, "--appimage-mount")
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	dir := strings.TrimSpace(line)
	if err == nil {
		if diff, err := exec.Command("diff", "-r", "--no-dereference", appDir(t, "first"), dir).CombinedOutput(); err != nil {
			t.Errorf("it differs: %v\n%s", err, diff)
		}
	}
	must(t, c.Process.Signal(os.Interrupt))
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil || dir == "" {
		t.Errorf("the mount is still there: %q", dir)
	}
}

// TestManyAtOnce: starts that find nothing there unpack it once, and all of them run from it.
func TestManyAtOnce(t *testing.T) {
	users(t, func(t *testing.T, i *installed) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if out, complaint, code := i.run("go"); code != 0 || !strings.Contains(out, "argument=go") {
					t.Errorf("%d %s %s", code, out, complaint)
				}
			})
		}
		wg.Wait()
		i.only()
	})
}

// TestSameBytes: an AppDir that was made elsewhere gives the same file.
func TestSameBytes(t *testing.T) {
	i := install(t, -1)
	other := filepath.Join(t.TempDir(), "other")
	must(t, seal(appDir(t, "first"), other))
	if b, err := os.ReadFile(other); err != nil || !bytes.Equal(b, sealed) {
		t.Errorf("it differs: %d bytes, %v", len(b), err)
	}
	if bytes.Contains(sealed, []byte(i.home)) {
		t.Error("it names a folder of this machine")
	}
}
