//go:build !windows

package shellenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termic/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func bash(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash on this machine: its start-up files are not tested")
	}
	return path
}

func ask(t *testing.T, environ ...string) Base {
	t.Helper()
	b, err := NewProber(environ).Base(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func dirs(path string) []string { return filepath.SplitList(path) }

// P13: a bare PATH is completed from the login shell and from known directories.
func TestP13BarePath(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.bash_profile", "export PATH=$PATH:$HOME/from-profile FROM_PROFILE=yes\n", 0o600)
	agent := write(t, home+"/.local/bin/agent", "#!/bin/sh\n", 0o700)
	b := ask(t, "HOME="+home, "PATH=/usr/bin:/bin", "SHELL="+bash(t))
	if !b.Probed || b.Asked != b.Shell || b.Env["FROM_PROFILE"] != "yes" {
		t.Errorf("base %+v", b)
	}
	got := dirs(b.Env["PATH"])
	if !slices.Contains(got, home+"/from-profile") || !slices.Contains(got, home+"/.local/bin") {
		t.Errorf("PATH %q", got)
	}
	if slices.Index(got, home+"/from-profile") > slices.Index(got, home+"/.local/bin") {
		t.Errorf("known directories come before the user's: %q", got)
	}
	path, err := LookPath("agent", "/", Build(Options{Base: b, Uncaged: true}))
	if err != nil || path != agent {
		t.Errorf("agent at %q, %v", path, err)
	}
}

// P15: a shell that is no POSIX shell is asked in words that it understands; one that refuses is passed over for sh.
func TestP15OtherShells(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.profile", "export FROM_SH=yes\n", 0o600)
	fish := write(t, home+"/sh/fish", `#!/bin/sh
for last; do :; done
case "$last" in *'&&'*|*export*|*'$('*|*'`+"`"+`'*) echo "fish: Unsupported" >&2; exit 127;; esac
FROM_FISH=yes; export FROM_FISH
[ "$1 $2 $3" = "-i -l -c" ] && eval "$last"
`, 0o700)
	b := ask(t, "HOME="+home, "PATH=/usr/bin:/bin", "SHELL="+fish)
	if b.Env["FROM_FISH"] != "yes" || b.Asked != fish {
		t.Errorf("fish: %+v", b)
	}
	nu := write(t, home+"/sh/nu", "#!/bin/sh\necho 'nu: parse error' >&2; exit 1\n", 0o700)
	b = ask(t, "HOME="+home, "PATH=/usr/bin:/bin", "SHELL="+nu)
	if b.Env["FROM_SH"] != "yes" || b.Asked != "/bin/sh" || b.Shell != nu || !b.Probed {
		t.Errorf("nu: %+v", b)
	}
}

// The command must parse in every shell that is here.
func TestRealShells(t *testing.T) {
	for _, name := range []string{"sh", "dash", "bash", "zsh", "fish", "ksh", "mksh", "tcsh", "csh", "nu", "elvish", "busybox"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name == "busybox" {
				link := filepath.Join(t.TempDir(), "ash")
				if err := os.Symlink(path, link); err != nil {
					t.Fatal(err)
				}
				path = link
			}
			b := ask(t, "HOME="+t.TempDir(), "PATH=/usr/bin:/bin", "SHELL="+path, "LANG=x\ny")
			if b.Asked != path || b.Env["LANG"] != "x\ny" {
				t.Errorf("%+v", b)
			}
		})
	}
}

// P16: banners, faked answers and echoed commands are not taken for the answer.
func TestP16Banner(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.bash_profile", `echo PATH=/evil; printf 'PATH=/evil2\0'; exec 2>&1; set -xv
export GOOD=$'two\nlines' ; echo "more PATH=/evil3"
trap 'echo PATH=/evil4' EXIT
`, 0o600)
	b := ask(t, "HOME="+home, "PATH=/usr/bin:/bin", "SHELL="+bash(t))
	if strings.Contains(b.Env["PATH"], "evil") || b.Env["GOOD"] != "two\nlines" || b.Asked != b.Shell {
		t.Errorf("base %+v", b)
	}
}

// A shell that hangs costs the limit, its processes end, and the next question may succeed: failures are not kept.
func TestHangingShell(t *testing.T) {
	home := t.TempDir()
	pidFile := filepath.Join(home, "pid")
	profile := write(t, home+"/.bash_profile", fmt.Sprintf("echo $$ > %s; sleep 100", pidFile), 0o600)
	write(t, home+"/.profile", "sleep 100", 0o600)
	p := NewProber([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "SHELL=" + bash(t)})
	p.limit = 200 * time.Millisecond
	var later time.Duration
	p.now = func() time.Time { return time.Now().Add(later) }
	began := time.Now()
	b, err := p.Base(context.Background())
	if !errors.Is(err, context.DeadlineExceeded) || b.Probed || b.Env["PATH"] == "" {
		t.Errorf("hanging: %+v, %v", b, err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	if pid, _ := strconv.Atoi(strings.TrimSpace(string(raw))); pid == 0 || syscall.Kill(pid, 0) == nil {
		t.Errorf("shell %q is left", raw)
	}
	// At once, the failure is told again without asking; a while later it is asked.
	began = time.Now()
	if _, err := p.Base(context.Background()); err == nil || time.Since(began) > 100*time.Millisecond {
		t.Errorf("asked again at once: %v", err)
	}
	later = time.Hour
	write(t, profile, "export BACK=yes\n", 0o600)
	p.limit = ProbeLimit
	b, err = p.Base(context.Background())
	if err != nil || b.Env["BACK"] != "yes" || !b.Probed {
		t.Errorf("mended: %+v, %v", b, err)
	}
	// And that answer is kept.
	write(t, profile, "export BACK=no\n", 0o600)
	if b, _ = p.Base(context.Background()); b.Env["BACK"] != "yes" {
		t.Error("a good answer was not kept")
	}
	p.Forget()
	if b, _ = p.Base(context.Background()); b.Env["BACK"] != "no" {
		t.Error("Forget forgot nothing")
	}
}

// A quick failure is asked again by the next call.
func TestFailureIsNotKept(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.profile", "exit 1\n", 0o600)
	shell := write(t, home+"/shell", "#!/bin/sh\nexit 1\n", 0o700)
	p := NewProber([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "SHELL=" + shell})
	if b, err := p.Base(context.Background()); err == nil || b.Probed || b.Env["HOME"] != home {
		t.Errorf("%+v, %v", b, err)
	}
	write(t, home+"/.profile", "export BACK=yes\n", 0o600)
	clock := time.Now().Add(time.Minute)
	p.now = func() time.Time { return clock }
	if b, err := p.Base(context.Background()); err != nil || b.Env["BACK"] != "yes" {
		t.Errorf("%+v, %v", b, err)
	}
}

// What start-up files leave running does not hold the answer up.
func TestBackgroundProcess(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.bash_profile", "sleep 100 &\n", 0o600)
	began := time.Now()
	if b := ask(t, "HOME="+home, "PATH=/usr/bin:/bin", "SHELL="+bash(t)); !b.Probed {
		t.Errorf("%+v", b)
	}
	if took := time.Since(began); took > ProbeLimit {
		t.Errorf("took %v", took)
	}
}

func TestCallersShareOneQuestion(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.bash_profile", "echo x >> $HOME/asked\n", 0o600)
	p := NewProber([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "SHELL=" + bash(t)})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if b, err := p.Base(context.Background()); err != nil || !b.Probed {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if raw, _ := os.ReadFile(home + "/asked"); string(raw) != "x\n" {
		t.Errorf("asked %d times", len(raw)/2)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	<-p.turn
	if b, err := p.Base(ctx); !errors.Is(err, context.Canceled) || b.Env["HOME"] != home {
		t.Errorf("cancelled while waiting: %+v, %v", b, err)
	}
	p.turn <- struct{}{}
}

// childEnv runs env with what Build made, and returns what it saw.
func childEnv(t *testing.T, o Options) map[string]string {
	t.Helper()
	cmd := exec.Command("/usr/bin/env", "-0")
	cmd.Env = Build(o)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return toMap(strings.Split(string(out), "\x00"))
}

// P17: what an outer terminal or multiplexer left is replaced.
func TestP17Terminal(t *testing.T) {
	environ := []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", "SHELL=/bin/sh", "TERM=dumb", "TMUX=x", "NO_COLOR=1", "STY=1",
		"TERM_PROGRAM=iTerm.app", "TERM_PROGRAM_VERSION=3", "VTE_VERSION=1", "KITTY_WINDOW_ID=1", "CLAUDECODE=1",
		"CLAUDE_CODE_ENTRYPOINT=cli", "TERMIC_DATA_DIR=/secret", "TERMIC_MCP_TOKEN=secret", "VSCODE_PID=1", "GIT_DIR=/x"}
	for _, base := range []Base{ask(t, environ...), NewProber(environ).fallback()} {
		for _, uncaged := range []bool{true, false} {
			env := childEnv(t, Options{Base: base, Uncaged: uncaged})
			for name, want := range map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "termic"} {
				if env[name] != want {
					t.Errorf("%s=%q", name, env[name])
				}
			}
			for _, name := range []string{"TMUX", "NO_COLOR", "STY", "TERM_PROGRAM_VERSION", "VTE_VERSION", "KITTY_WINDOW_ID", "CLAUDECODE",
				"CLAUDE_CODE_ENTRYPOINT", "TERMIC_DATA_DIR", "TERMIC_MCP_TOKEN", "TERMIC_SHELL_PROBE", "VSCODE_PID", "GIT_DIR", "SHLVL"} {
				if v, ok := env[name]; ok {
					t.Errorf("%s=%q leaks (uncaged %v)", name, v, uncaged)
				}
			}
			if env["LANG"] == "" || !strings.Contains(env["LANG"], "UTF-8") {
				t.Errorf("LANG=%q", env["LANG"])
			}
		}
	}
}

// P20: nothing of the AppImage reaches a child, though the same variables pass where the user's own files set them.
func TestP20AppImage(t *testing.T) {
	home := t.TempDir()
	mount := "/tmp/.mount_termicAb12"
	environ := []string{"HOME=" + home, "SHELL=" + bash(t), "PATH=" + mount + "/usr/bin:/usr/bin:/bin",
		"LD_LIBRARY_PATH=" + mount + "/usr/lib", "LD_PRELOAD=/x.so", "PYTHONHOME=" + mount, "GTK_PATH=" + mount, "GST_PLUGIN_PATH=" + mount,
		"GIO_MODULE_DIR=" + mount, "GDK_BACKEND=x11", "XDG_DATA_DIRS=" + mount + "/share:/usr/share", "APPDIR=" + mount,
		"APPIMAGE=/home/u/Termic.AppImage", "ARGV0=termic", "OWD=/", "WEBKIT_DISABLE_DMABUF_RENDERER=1"}
	for _, base := range []Base{ask(t, environ...), NewProber(environ).fallback()} {
		for _, uncaged := range []bool{true, false} {
			env := childEnv(t, Options{Base: base, Uncaged: uncaged})
			for name, value := range env {
				if strings.Contains(value, ".mount_") {
					t.Errorf("%s=%s", name, value)
				}
				for _, p := range []string{"LD_", "PYTHON", "GTK_", "GDK_", "GST_", "GIO_", "APP", "ARGV0", "OWD", "WEBKIT_"} {
					if strings.HasPrefix(name, p) {
						t.Errorf("%s=%s leaks", name, value)
					}
				}
			}
			if uncaged && env["XDG_DATA_DIRS"] != "/usr/share" {
				t.Errorf("XDG_DATA_DIRS=%q", env["XDG_DATA_DIRS"])
			}
		}
	}
	write(t, home+"/.bash_profile", "export LD_LIBRARY_PATH=/opt/cuda/lib\n", 0o600)
	if env := childEnv(t, Options{Base: ask(t, environ...), Uncaged: true}); env["LD_LIBRARY_PATH"] != "/opt/cuda/lib" {
		t.Errorf("the user's own LD_LIBRARY_PATH: %q", env["LD_LIBRARY_PATH"])
	}
}

// M12: no proxy stands before the loopback; the user's exceptions stay.
func TestM12NoProxy(t *testing.T) {
	for _, c := range []struct{ env, want map[string]string }{
		{map[string]string{"HTTP_PROXY": "http://p:1"}, map[string]string{"NO_PROXY": "127.0.0.1,localhost,::1", "no_proxy": "127.0.0.1,localhost,::1"}},
		{map[string]string{"https_proxy": "http://p:1", "no_proxy": ".corp, localhost"}, map[string]string{"NO_PROXY": ".corp,localhost,127.0.0.1,::1"}},
		{map[string]string{"NO_PROXY": "x"}, map[string]string{"NO_PROXY": "x"}},
		{map[string]string{"PATH": "/bin"}, map[string]string{"NO_PROXY": ""}},
	} {
		env := toMap(Build(Options{Base: Base{Env: c.env}}))
		for name, want := range c.want {
			if env[name] != want {
				t.Errorf("%v: %s=%q, want %q", c.env, name, env[name], want)
			}
		}
	}
	// A proxy that comes in for a cage counts too.
	env := toMap(Build(Options{Extra: map[string]string{"HTTPS_PROXY": "http://127.0.0.1:9"}}))
	if env["NO_PROXY"] == "" {
		t.Error("no NO_PROXY for a cage's proxy")
	}
}

func TestBuild(t *testing.T) {
	base := Base{Probed: true, Env: map[string]string{"HOME": "/h", "PATH": "/bin", "SSH_AUTH_SOCK": "/s", "DISPLAY": ":0",
		"DBUS_SESSION_BUS_ADDRESS": "unix:/b", "API_KEY": "k", "LC_TIME": "de_DE.UTF-8", "LANG": "de_DE.ISO-8859-1"}}
	caged := toMap(Build(Options{Base: base, Extra: map[string]string{"TERMIC_TASK_ID": "1", "TERM": "mine", "bad=name": "x", "NUL": "a\x00"}}))
	for name, want := range map[string]string{"HOME": "/h", "LC_TIME": "de_DE.UTF-8", "TERMIC_TASK_ID": "1", "TERM": "mine",
		"LANG": "de_DE.ISO-8859-1", "SSH_AUTH_SOCK": "", "DISPLAY": "", "DBUS_SESSION_BUS_ADDRESS": "", "API_KEY": "", "NUL": ""} {
		if caged[name] != want {
			t.Errorf("caged %s=%q, want %q", name, caged[name], want)
		}
	}
	uncaged := toMap(Build(Options{Base: base, Uncaged: true}))
	for _, name := range []string{"SSH_AUTH_SOCK", "DISPLAY", "API_KEY"} {
		if uncaged[name] != base.Env[name] {
			t.Errorf("uncaged %s=%q", name, uncaged[name])
		}
	}
	list := Build(Options{Base: base, Uncaged: true, Extra: map[string]string{"HOME": "/other"}})
	if !slices.IsSorted(list) {
		t.Error("not sorted")
	}
	seen := map[string]bool{}
	for _, entry := range list {
		name, _, _ := strings.Cut(entry, "=")
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
}

func TestLocale(t *testing.T) {
	for _, c := range []struct{ in, lang, all string }{
		{"", "C.UTF-8", ""}, {"LANG=C", "C.UTF-8", ""}, {"LC_ALL=POSIX LANG=de_DE.UTF-8", "C.UTF-8", ""},
		{"LANG=de_DE.UTF-8", "de_DE.UTF-8", ""}, {"LC_ALL=fr_FR.UTF-8", "", "fr_FR.UTF-8"}, {"LC_CTYPE=ja_JP.UTF-8", "", ""},
	} {
		env := toMap(strings.Fields(c.in))
		defaultLocale(env)
		want := c.lang
		if want == "C.UTF-8" && env["LANG"] == "en_US.UTF-8" {
			want = "en_US.UTF-8"
		}
		if env["LANG"] != want || env["LC_ALL"] != c.all {
			t.Errorf("%q: LANG=%q LC_ALL=%q", c.in, env["LANG"], env["LC_ALL"])
		}
	}
}

func TestUserShell(t *testing.T) {
	for environ, bad := range map[string]bool{"SHELL=/usr/sbin/nologin": true, "SHELL=relative": true, "SHELL=/does/not/exist": true, "SHELL=/bin/sh": false} {
		got := userShell(toMap([]string{environ}))
		if !executable(got) || !bad && got != "/bin/sh" {
			t.Errorf("%s: %q", environ, got)
		}
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	tool := write(t, dir+"/bin/tool", "#!/bin/sh\n", 0o700)
	write(t, dir+"/plain", "no program", 0o600)
	env := []string{"PATH=.::bin:" + dir + "/bin"}
	for program, want := range map[string]string{"tool": tool, "bin/tool": tool, tool: tool, "plain": "", "./plain": "", "": "", "nope": ""} {
		got, err := LookPath(program, dir, env)
		if got != want || (want == "") != (fault.CodeOf(err) == fault.NotFound) {
			t.Errorf("%q: %q, %v", program, got, err)
		}
	}
}
