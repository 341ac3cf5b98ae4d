package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDamaged: a file that is not what was sealed is refused before anything of it is unpacked or run, whichever option is given.
func TestDamaged(t *testing.T) {
	i := install(t, -1)
	out, _, _ := i.run("--appimage-offset")
	offset, err := strconv.Atoi(strings.TrimSpace(out))
	must(t, err)
	flip := func(at int) []byte {
		b := bytes.Clone(sealed)
		b[at] ^= 0x40
		return b
	}
	for name, b := range map[string][]byte{
		"the head of the file system": flip(offset + 2),
		"its time":                    flip(offset + 8),
		"a block":                     flip(offset + 200),
		"the last byte":               flip(len(sealed) - 1),
		"a byte more":                 append(bytes.Clone(sealed), 0),
		"a byte less":                 sealed[:len(sealed)-1],
		"half of it":                  sealed[:offset+(len(sealed)-offset)/2],
		"nothing behind the program":  sealed[:offset],
	} {
		must(t, os.Remove(i.file))
		must(t, os.WriteFile(i.file, b, 0o755))
		for _, args := range [][]string{nil, {"--appimage-extract"}, {"--appimage-extract-and-run"}, {"--appimage-mount"}} {
			t.Run(name+" "+strings.Join(args, " "), func(t *testing.T) {
				j := *i
				j.t = t
				j.refused(j.command(j.file, args...), "The file "+i.file+" is damaged", "Nothing of it was run", "SHA256SUMS")
			})
		}
	}
	if f := i.folders(); len(f) > 0 {
		t.Errorf("something was unpacked: %q", f)
	}
	if _, err := os.Stat(filepath.Join(i.home, "squashfs-root")); err == nil {
		t.Error("something was extracted")
	}
}

// TestFoldersOfOthers: nothing is unpacked, and nothing is run, where somebody else could have put something.
func TestFoldersOfOthers(t *testing.T) {
	none := func(*installed) []string { return nil }
	for name, c := range map[string]struct {
		root    bool
		prepare func(i *installed) (env []string)
		words   string
	}{
		"others may write into it":       {false, func(i *installed) []string { return i.mkdir(i.cache(), 0o777) }, "which others may write (its mode is 0777)"},
		"a group may write into it":      {false, func(i *installed) []string { return i.mkdir(i.cache(), 0o770) }, "which others may write (its mode is 0770)"},
		"others may write, and not take": {false, func(i *installed) []string { return i.mkdir(i.cache(), 0o777|os.ModeSticky) }, "which others may write"},
		"others may exchange it":         {false, func(i *installed) []string { return i.mkdir(filepath.Dir(i.cache()), 0o777) }, "which others may write"},
		"a link": {false, func(i *installed) []string {
			i.mkdir(filepath.Dir(i.cache()), 0o700)
			must(i.t, os.Symlink(i.mkdir(filepath.Join(i.home, "elsewhere"), 0o700)[0], i.cache()))
			return nil
		}, "which is no folder"},
		"a file": {false, func(i *installed) []string {
			i.mkdir(filepath.Dir(i.cache()), 0o700)
			must(i.t, os.WriteFile(i.cache(), nil, 0o600))
			return nil
		}, "which is no folder"},
		"another user's":        {true, func(i *installed) []string { return i.give(i.cache()) }, "which belongs to another user (1501)"},
		"below another user's":  {true, func(i *installed) []string { return i.give(filepath.Dir(i.cache())) }, "which belongs to another user (1501)"},
		"far below another's":   {true, func(i *installed) []string { return i.give(i.home) }, "which belongs to another user (1501)"},
		"no home":               {false, func(*installed) []string { return []string{"HOME=", "XDG_CACHE_HOME=relative"} }, "There is no home folder to unpack Termic into"},
		"a home that is a file": {false, func(i *installed) []string { return []string{"HOME=" + i.file} }, "not a directory"},
		"nothing is wrong":      {false, none, ""},
	} {
		t.Run(name, func(t *testing.T) {
			who := -1
			if c.root {
				if who = user; os.Getuid() != 0 {
					t.Skip("NOT TESTED: only root can give folders away")
				}
			}
			i := install(t, who)
			cmd := i.command(i.file)
			cmd.Env = append(cmd.Env, c.prepare(i)...)
			if c.words == "" {
				if out, complaint, code := i.finish(cmd); code != 0 {
					t.Errorf("%d %s %s", code, out, complaint)
				}
				return
			}
			i.refused(cmd, c.words, "XDG_CACHE_HOME")
		})
	}
}

// mkdir makes a folder with just that mode; the one word that comes back is its path, which no program knows as a variable.
func (i *installed) mkdir(path string, mode os.FileMode) []string {
	i.t.Helper()
	must(i.t, os.MkdirAll(path, 0o700))
	must(i.t, os.Chmod(path, mode))
	return []string{path}
}

// give makes folders of the user's, the last of which is another user's, and open for the first.
func (i *installed) give(path string) []string {
	i.t.Helper()
	i.mkdir(path, 0o700)
	for p := path; len(p) >= len(i.home); p = filepath.Dir(p) {
		must(i.t, os.Chown(p, i.who, i.who))
	}
	must(i.t, os.Chown(path, i.who+1, i.who))
	must(i.t, os.Chmod(path, 0o770))
	return nil
}

// TestWhatIsThereIsNotBelieved: a folder of that name with something else in it is unpacked anew.
func TestWhatIsThereIsNotBelieved(t *testing.T) {
	users(t, func(t *testing.T, i *installed) {
		i.run()
		dir := i.only()
		evil := []byte("#!/bin/sh\necho evil\n")
		past := time.Unix(1_700_000_000, 0)
		program := filepath.Join(dir, "usr/bin/program")
		for name, change := range map[string]func() error{
			"another AppRun":    func() error { return os.WriteFile(filepath.Join(dir, "AppRun"), evil, 0o755) },
			"a time":            func() error { return os.Chtimes(program, past, past.Add(time.Second)) },
			"a mode":            func() error { return os.Chmod(program, 0o777) },
			"a file is gone":    func() error { return os.Remove(program) },
			"a folder is gone":  func() error { return os.RemoveAll(filepath.Join(dir, "usr")) },
			"half a file":       func() error { return os.Truncate(program, 1000) },
			"a link in between": func() error { return swap(filepath.Join(dir, "usr"), t.TempDir()) },
			"a link elsewhere":  func() error { return swap(filepath.Join(dir, "link"), "/etc/passwd") },
			"it is a link":      func() error { return swap(dir, t.TempDir()) },
			"it is a file":      func() error { return replace(dir, nil) },
		} {
			must(t, change())
			if out, complaint, code := i.run("x"); code != 0 || !strings.Contains(out, "argument=x") {
				t.Errorf("%s: %d %s %s", name, code, out, complaint)
			}
			if st, err := os.Lstat(filepath.Join(i.only(), "usr/bin/program")); err != nil || st.Size() != 500_000 || !st.ModTime().Equal(past) {
				t.Errorf("%s: it was not unpacked anew: %v", name, err)
			}
		}
		if os.Getuid() == 0 { // a file of somebody else's, in a folder of the user's
			must(t, os.Chown(filepath.Join(dir, "AppRun"), user+1, user+1))
			if out, _, code := i.run("x"); code != 0 || !strings.Contains(out, "argument=x") {
				t.Errorf("%d %s", code, out)
			}
			if st, err := exec.Command("stat", "-c", "%u", filepath.Join(dir, "AppRun")).Output(); err != nil || strings.TrimSpace(string(st)) == "1501" {
				t.Errorf("another user's AppRun was run: %s %v", st, err)
			}
		}
	})
}

func swap(path, target string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

func replace(path string, content []byte) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// TestOlderVersionsGo when a newer one is unpacked, unless somebody runs from them; and so does what a start left that was ended.
func TestOlderVersionsGo(t *testing.T) {
	users(t, func(t *testing.T, i *installed) {
		second := filepath.Join(t.TempDir(), "second")
		must(t, seal(appDir(t, "second"), second))
		newer, err := os.ReadFile(second)
		must(t, err)
		running := i.command(i.file, "wait")
		must(t, running.Start())
		t.Cleanup(func() { _ = running.Process.Kill(); _ = running.Wait() })
		await(t, func() bool {
			exe, err := os.Readlink("/proc/" + pid(running) + "/exe")
			return err == nil && strings.Contains(exe, "sleep")
		})
		older := i.only()
		put := func(b []byte) {
			must(t, os.Remove(i.file))
			must(t, os.WriteFile(i.file, b, 0o755))
		}
		put(newer)
		left := filepath.Join(i.cache(), newPrefix+"123")
		must(t, os.MkdirAll(filepath.Join(left, "usr"), 0o700))
		if i.who >= 0 {
			must(t, errors.Join(os.Chown(left, i.who, i.who), os.Chown(filepath.Join(left, "usr"), i.who, i.who)))
		}
		i.run()
		if f := i.folders(); len(f) != 2 {
			t.Fatalf("while the older one runs: %q", f)
		}
		if _, err := os.Stat(filepath.Join(older, "usr/bin/program")); err != nil {
			t.Error("what runs lost its files")
		}
		must(t, running.Process.Kill())
		_ = running.Wait()
		must(t, os.RemoveAll(i.beside(older)))
		i.run()
		if dir := i.only(); dir == older {
			t.Error("the older one is still there")
		}
	})
}

// beside is the folder that is not the older one.
func (i *installed) beside(older string) string {
	for _, f := range i.folders() {
		if f != older {
			return f
		}
	}
	i.t.Fatal("there is no other folder")
	return ""
}

// TestNoRoom: a full disk, and one from which no program may run, are told of in words; nothing half is left.
func TestNoRoom(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can mount a small disk")
	}
	for options, words := range map[string]string{"size=64k": "There is no room to unpack Termic into", "noexec": "programs may not run from that file system"} {
		i := install(t, -1)
		must(t, os.MkdirAll(filepath.Dir(i.cache()), 0o700))
		script := `mount -t tmpfs -o mode=700,"$1" small "$2" && "$3"; code=$?; [ -z "$(ls "$2/termic-appimage" | grep -v '^[0-9a-f]*$')" ] || exit 9; exit $code`
		i.refused(i.command("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "-", options, filepath.Dir(i.cache()), i.file), words, "XDG_CACHE_HOME")
	}
}
