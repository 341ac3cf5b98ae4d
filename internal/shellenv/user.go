package shellenv

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// userShell returns the login shell: SHELL, else the one of the user database, else sh.
func userShell(environ map[string]string) string {
	for _, shell := range []string{environ["SHELL"], passwdField(6)} {
		if filepath.IsAbs(shell) && !noShell[filepath.Base(shell)] && executable(shell) {
			return shell
		}
	}
	if runtime.GOOS == "darwin" && executable("/bin/zsh") {
		return "/bin/zsh"
	}
	return "/bin/sh"
}

// noShell are what stands in the user database where there is no login.
var noShell = map[string]bool{"nologin": true, "false": true, "true": true, "sync": true}

// userHome returns the home directory of the user database; the working directory must never be taken for it.
func userHome() string {
	if home := passwdField(5); filepath.IsAbs(home) {
		return home
	}
	return string(filepath.Separator)
}

// passwdField reads a field of this user's line in /etc/passwd. Without cgo there is no other way to the shell, and a
// user who is known to a directory service only has SHELL and HOME set.
func passwdField(n int) string {
	raw, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return ""
	}
	uid := strconv.Itoa(os.Getuid())
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(fields) == 7 && fields[2] == uid {
			return fields[n]
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// knownDirs are where agents and their tools install themselves, though no start-up file may say so. Those that begin
// with ~ lie in the home directory.
var knownDirs = []string{"~/.local/bin", "~/bin", "~/.claude/local", "~/.opencode/bin", "~/.bun/bin", "~/.deno/bin",
	"~/.cargo/bin", "~/go/bin", "~/.npm-global/bin", "~/.volta/bin", "~/.local/share/pnpm", "~/Library/pnpm",
	"/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/bin",
	"/usr/sbin", "/sbin", "/snap/bin"}

// fullPath returns path without what is not absolute or there twice, and with the known directories that exist.
// Directories of the user come first, in the user's order.
func fullPath(path, home string) string {
	var dirs []string
	seen := make(map[string]bool)
	add := func(dir string) {
		if filepath.IsAbs(dir) && !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range filepath.SplitList(path) {
		add(dir)
	}
	for _, dir := range knownDirs {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = filepath.Join(home, rest)
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			add(dir)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}
