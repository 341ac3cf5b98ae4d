package core

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"termic/internal/fault"
	"termic/internal/keyring"
)

// maxSecretName is the longest name of a secret, in characters.
const maxSecretName = 64

// A secret is a variable of an agent's environment. Names by which the agent's program, the shells that it starts, git, the loader
// or Termic itself would do something else than hold a value are not for secrets.
var (
	steering = strings.Fields(`PATH HOME SHELL USER LOGNAME PWD OLDPWD TMPDIR TMP TEMP TERM TERMINFO COLORTERM LANG LANGUAGE IFS ENV BASH_ENV BASHOPTS SHELLOPTS PS1 PS4
		PROMPT_COMMAND CDPATH ZDOTDIR FPATH EDITOR VISUAL PAGER BROWSER DISPLAY WAYLAND_DISPLAY SSH_AUTH_SOCK HOSTALIASES LOCPATH NLSPATH GCONV_PATH GLIBC_TUNABLES TZDIR
		NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_REPL_EXTERNAL_MODULE PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE
		PYTHONWARNINGS PYTHONBREAKPOINT PYTHONINSPECT PYTHONPLATLIBDIR PYTHONEXECUTABLE PERL5LIB PERLLIB PERL5OPT PERL5DB RUBYLIB RUBYOPT JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS
		_JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS GOFLAGS GOROOT GOPATH GOENV GOTOOLCHAIN GOPROXY GONOSUMDB GOSUMDB GOINSECURE CC CXX CFLAGS LDFLAGS MAKEFLAGS RUSTC RUSTFLAGS
		RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTUP_HOME CARGO_HOME LESSOPEN LESSCLOSE MANPAGER SUDO_EDITOR SUDO_ASKPASS SSH_ASKPASS DOCKER_HOST RES_OPTIONS LOCALDOMAIN INPUTRC
		SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY FTP_PROXY
		CLAUDE_CONFIG_DIR CODEX_HOME COPILOT_HOME GROK_HOME CLAUDECODE`)
	steeringPrefixes = []string{"TERMIC_", "LD_", "DYLD_", "LC_", "XDG_", "DBUS_", "GIT_", "BASH_FUNC_", "MALLOC_", "TERM_", "NPM_CONFIG_"}
)

// checkSecretName refuses a name that is none, or that would steer a program.
func checkSecretName(name string) error {
	const first = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	if name == "" || len(name) > maxSecretName || !strings.Contains(first, name[:1]) || strings.Trim(name, first+"0123456789") != "" {
		called := "that" // it may have a value in it, as in NAME=VALUE
		if len(name) <= maxSecretName && strings.Trim(strings.ToUpper(name), first+"0123456789-.") == "" {
			called = strconv.Quote(name)
		}
		return fault.New(fault.InvalidArgument, "A secret cannot be called %s", called).
			WithHint("Take capital letters, digits and _, at most %d of them, as in API_KEY: it is the name of a variable.", maxSecretName)
	}
	if slices.Contains(steering, name) || slices.ContainsFunc(steeringPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
		return fault.New(fault.InvalidArgument, "A secret cannot be called %s: programs do what that variable says", name).WithHint("Take the name of a variable that only holds a value.")
	}
	return nil
}

// checkSecretValue refuses what no variable can hold, without a word of what it is.
func checkSecretValue(value string) error {
	switch {
	case value == "":
		return fault.New(fault.InvalidArgument, "The value is empty").WithHint("To be rid of a secret, delete it: `termic secret delete NAME`.")
	case len(value) > keyring.MaxValue:
		return fault.New(fault.InvalidArgument, "The value is longer than %d KiB", keyring.MaxValue>>10).WithHint("Keep it in a file, and let a secret hold what opens that.")
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return fault.New(fault.InvalidArgument, "The value is no text, and a variable cannot hold it").WithHint("Encode it, such as by base64.")
	}
	return nil
}
