package shellenv

import (
	"runtime"
	"slices"
	"strings"
)

// Options say what a child's environment is made of.
type Options struct {
	Base Base
	// Extra is set last and wins over all else. It is not filtered: what a task gets, tokens included, comes in here.
	Extra map[string]string
	// Uncaged passes on what the login shell exports, less what never leaks. Otherwise only the list is passed on, and
	// nothing that names a socket of the desktop.
	Uncaged bool
}

// Build returns the environment, sorted by name, each name once.
func Build(o Options) []string {
	env := make(map[string]string)
	for name, value := range o.Base.Env {
		if listed(name) || o.Uncaged && (desktop[name] || o.Base.Probed && !never(name)) {
			env[name] = value
		}
	}
	env["TERM"] = "xterm-256color"
	env["COLORTERM"] = "truecolor"
	env["TERM_PROGRAM"] = "termic"
	defaultLocale(env)
	for name, value := range o.Extra {
		if name != "" && !strings.ContainsAny(name, "=\x00") && !strings.ContainsRune(value, 0) {
			env[name] = value
		}
	}
	excludeLoopback(env)
	return fromMap(env)
}

// fromMap returns the variables sorted by name.
func fromMap(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// list is what every child gets, if it is set: who the user is, where programs are, how to speak, and how to get out.
var list = map[string]bool{"HOME": true, "USER": true, "LOGNAME": true, "SHELL": true, "PATH": true, "TZ": true,
	"LANG": true, "LANGUAGE": true, "EDITOR": true, "VISUAL": true, "PAGER": true, "LESS": true, "MANPATH": true,
	"HTTP_PROXY": true, "HTTPS_PROXY": true, "ALL_PROXY": true, "NO_PROXY": true, "http_proxy": true,
	"https_proxy": true, "all_proxy": true, "no_proxy": true, "SSL_CERT_FILE": true, "SSL_CERT_DIR": true,
	"NODE_EXTRA_CA_CERTS": true, "REQUESTS_CA_BUNDLE": true, "CURL_CA_BUNDLE": true, "GIT_SSL_CAINFO": true}

func listed(name string) bool {
	return list[name] || strings.HasPrefix(name, "LC_") && name != "LC_TERMINAL" && name != "LC_TERMINAL_VERSION"
}

// desktop is what an uncaged child gets beside the list, even if no shell answered: the session that the app runs in.
var desktop = map[string]bool{"DISPLAY": true, "WAYLAND_DISPLAY": true, "XAUTHORITY": true, "XDG_RUNTIME_DIR": true,
	"XDG_SESSION_TYPE": true, "XDG_SESSION_ID": true, "XDG_CURRENT_DESKTOP": true, "XDG_CONFIG_HOME": true,
	"XDG_DATA_HOME": true, "XDG_CACHE_HOME": true, "XDG_STATE_HOME": true, "XDG_CONFIG_DIRS": true,
	"XDG_DATA_DIRS": true, "DESKTOP_SESSION": true, "DBUS_SESSION_BUS_ADDRESS": true, "SSH_AUTH_SOCK": true,
	"SSH_AGENT_PID": true, "GPG_AGENT_INFO": true, "TMPDIR": true, "BROWSER": true}

// neverNames are not passed on even if a login shell exports them: they tell about a terminal, an agent or a process
// that is not the child's.
var neverNames = map[string]bool{
	// another terminal or multiplexer
	"TERM": true, "COLORTERM": true, "TERM_SESSION_ID": true, "TERMINFO": true, "TMUX": true, "TMUX_PANE": true,
	"STY": true, "WINDOW": true, "WINDOWID": true, "COLUMNS": true, "LINES": true, "VTE_VERSION": true,
	"WT_SESSION": true, "WT_PROFILE_ID": true, "LC_TERMINAL": true, "LC_TERMINAL_VERSION": true, "INSIDE_EMACS": true,
	"NVIM": true, "VIM_TERMINAL": true, "ZELLIJ": true, "ZELLIJ_SESSION_NAME": true, "SSH_TTY": true, "GPG_TTY": true,
	// an agent around the app: with these an agent believes that it runs inside of another
	"CLAUDECODE": true, "CLAUDE_CODE_ENTRYPOINT": true, "CLAUDE_CODE_SSE_PORT": true, "CLAUDE_CODE_SESSION_ID": true,
	"CODEX_SANDBOX": true, "CODEX_SANDBOX_NETWORK_DISABLED": true, "CODEX_THREAD_ID": true, "GEMINI_CLI": true,
	"OPENCODE": true, "CURSOR_AGENT": true, "AI_AGENT": true,
	// the app's packaging and the service manager that started it
	"APPIMAGE": true, "APPDIR": true, "ARGV0": true, "OWD": true, "INVOCATION_ID": true, "JOURNAL_STREAM": true,
	"NOTIFY_SOCKET": true, "SYSTEMD_EXEC_PID": true, "MANAGERPID": true, "DESKTOP_STARTUP_ID": true,
	"XDG_ACTIVATION_TOKEN": true, "WEBKIT_DISABLE_DMABUF_RENDERER": true,
	// a build or a git hook that started the app
	"MAKEFLAGS": true, "MAKELEVEL": true, "MFLAGS": true, "GIT_DIR": true, "GIT_WORK_TREE": true,
	"GIT_INDEX_FILE": true, "GIT_PREFIX": true, "GIT_COMMON_DIR": true, "GIT_OBJECT_DIRECTORY": true,
	// the shell that was asked
	"PWD": true, "OLDPWD": true, "SHLVL": true, "_": true,
}

// neverPrefixes are families of such variables.
var neverPrefixes = []string{"TERMIC_", "TERM_PROGRAM", "KITTY_", "ITERM_", "ALACRITTY_", "WEZTERM_", "GHOSTTY_",
	"KONSOLE_", "VSCODE_", "LISTEN_", "GIO_LAUNCHED_", "npm_lifecycle_", "npm_package_"}

func never(name string) bool {
	if neverNames[name] {
		return true
	}
	for _, p := range neverPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// defaultLocale makes programs speak UTF-8 where nothing says what they should speak. A locale that the user chose
// stays, whatever it is.
func defaultLocale(env map[string]string) {
	effective := env["LC_ALL"]
	for _, name := range []string{"LC_CTYPE", "LANG"} {
		if effective == "" {
			effective = env[name]
		}
	}
	if effective != "" && effective != "C" && effective != "POSIX" {
		return
	}
	utf8 := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		utf8 = "en_US.UTF-8" // macOS has no C.UTF-8
	}
	env["LANG"] = utf8
	for _, name := range []string{"LC_ALL", "LC_CTYPE"} { // they hold C, or nothing
		delete(env, name)
	}
}

// loopback are the hosts that no proxy may stand before: the endpoint of the app is there.
var loopback = []string{"127.0.0.1", "localhost", "::1"}

// excludeLoopback extends NO_PROXY, in both spellings, where a proxy is set.
func excludeLoopback(env map[string]string) {
	proxied := false
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		proxied = proxied || env[name] != "" || env[strings.ToLower(name)] != ""
	}
	if !proxied {
		return
	}
	var hosts []string
	for _, value := range []string{env["NO_PROXY"], env["no_proxy"], strings.Join(loopback, ",")} {
		for host := range strings.SplitSeq(value, ",") {
			if host = strings.TrimSpace(host); host != "" && !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
	}
	env["NO_PROXY"] = strings.Join(hosts, ",")
	env["no_proxy"] = env["NO_PROXY"]
}
