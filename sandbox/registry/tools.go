package registry

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"termic/sandbox/proxy"
)

// readNpm asks npm for its registry and those of scopes, then for the address of one archive. The package asked for is
// npm itself, which every registry for npm has or hands on.
func readNpm(ctx context.Context, a *asking) {
	// Not as JSON, which leaves out every address that holds a password. What another setting overrides is behind a
	// semicolon.
	out, ok := a.run(ctx, []string{"npm"}, []string{"config", "ls", "-l"})
	if !ok {
		return
	}
	for _, m := range npmRegistry.FindAllStringSubmatch(out, -1) {
		a.source(m[1])
	}
	if len(a.urls) == 0 {
		a.note("npm names no registry")
		return
	}
	archive, ok := a.run(ctx, []string{"npm"}, []string{"view", "npm", "dist.tarball", "--json", "--fetch-retries=0"})
	if text := firstURL(archive); ok && text != "" {
		a.files(text)
		return
	}
	a.note("the registry did not say where its archives are; they are taken to be on the same host")
}

// readGo asks go for its module proxies and for the checksum database. "direct" stands for the hosts of the code
// itself, which are no registry.
func readGo(ctx context.Context, a *asking) {
	out, ok := a.run(ctx, []string{"go"}, []string{"env", "-json", "GOPROXY", "GOSUMDB"}, "GOTOOLCHAIN=local", "GOWORK=off")
	if !ok {
		return
	}
	var env struct{ GOPROXY, GOSUMDB string }
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&env); err != nil {
		a.note("the settings of go could not be read")
		return
	}
	for _, p := range strings.FieldsFunc(env.GOPROXY, func(r rune) bool { return r == ',' || r == '|' }) {
		a.source(p)
	}
	if len(a.urls) == 0 {
		a.note("go fetches modules from their own hosts, so there is no registry to allow")
	}
	// "name", "name+key" or "name+key url"; the name alone is the host.
	switch words := strings.Fields(env.GOSUMDB); {
	case len(words) == 0 || words[0] == "off":
	case len(words) > 1:
		a.source(words[1])
	default:
		name, _, _ := strings.Cut(words[0], "+")
		a.source("https://" + name)
	}
}

var (
	npmRegistry = regexp.MustCompile(`(?m)^(?:@[^\s=]+:)?registry = "([^"]*)"`)
	pipDefault  = regexp.MustCompile(`--index-url <url>[^(]*\(default (\S+?)\)`)
	pipFile     = regexp.MustCompile(`Found link (https?://\S+)`)
	pipIndex    = regexp.MustCompile(`(?m)^\s*\* (https?://\S+)/pip/\s*$`)
	quotedURL   = regexp.MustCompile("`((?:https?|ssh|git|file)://[^`]+)`")
	anyURL      = regexp.MustCompile(`https?://[^\s"'<>]+`)
	pipPrograms = []string{"pip", "pip3"}
)

// readPip lets pip look for a package, which makes it name the indexes in effect and every file that they have. The
// package asked for is pip itself. A pip that is too old for that, or that cannot reach its index, still names it in its
// help, with the settings applied.
func readPip(ctx context.Context, a *asking) {
	wide := "COLUMNS=2000" // or the help is wrapped in the middle of an address
	out, ok := a.run(ctx, pipPrograms, []string{"index", "versions", "-vv", "--retries=0", "--disable-pip-version-check", "pip"}, wide)
	if !ok {
		return
	}
	for _, m := range pipIndex.FindAllStringSubmatch(out, -1) {
		a.source(m[1])
	}
	if len(a.urls) == 0 {
		help, _ := a.run(ctx, pipPrograms, []string{"download", "--help"}, wide)
		if m := pipDefault.FindStringSubmatch(help); m == nil || a.source(m[1]) == nil {
			a.note("pip did not name its index")
			return
		}
	}
	links := pipFile.FindAllStringSubmatch(out, -1)
	if len(links) == 0 {
		a.note("the index did not say where its files are; they are taken to be on the same host")
	}
	seen := map[string]bool{}
	for _, m := range links {
		if u, err := url.Parse(m[1]); err == nil && !seen[u.Host] {
			seen[u.Host] = true
			a.files(m[1])
		}
	}
}

// cargoPath is where a sparse index keeps libc, the package asked for.
const cargoPath = "/li/bc/libc"

// readCargo lets cargo look for a package behind a proxy that answers nothing: the address that it then names in its
// complaint is the index in effect, replacements and all. The index's config.json says where the archives are.
func readCargo(ctx context.Context, a *asking) {
	dir, err := os.MkdirTemp(a.o.Dir, "cargo-")
	if err != nil {
		a.note("there is no room to ask cargo")
		return
	}
	defer os.RemoveAll(dir)
	const manifest = "[package]\nname = \"asks\"\nversion = \"0.0.0\"\n[lib]\npath = \"lib.rs\"\n[dependencies]\nlibc = \"*\"\n[workspace]\n"
	for name, text := range map[string]string{"Cargo.toml": manifest, "lib.rs": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			a.note("there is no room to ask cargo")
			return
		}
	}
	wall, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts: it is closed before anyone is answered
	if err != nil {
		a.note("there is no port to ask cargo with")
		return
	}
	nowhere := "http://" + wall.Addr().String()
	_ = wall.Close()
	out, ok := a.run(ctx, []string{"cargo"}, []string{"generate-lockfile", "--manifest-path", filepath.Join(dir, "Cargo.toml")},
		"CARGO_HOME="+cargoHome(a.o.Env), "CARGO_HTTP_PROXY="+nowhere, "CARGO_NET_RETRY=0", "CARGO_HTTP_TIMEOUT=5", "CARGO_NET_GIT_FETCH_WITH_CLI=false",
		"CARGO_NET_OFFLINE=false", "CARGO_TERM_COLOR=never", "HTTPS_PROXY="+nowhere, "HTTP_PROXY="+nowhere, "https_proxy="+nowhere, "http_proxy="+nowhere,
		"NO_PROXY=", "no_proxy=")
	if !ok {
		return
	}
	m := quotedURL.FindStringSubmatch(out)
	if m == nil {
		a.note("cargo did not name its index")
		return
	}
	index := a.source(m[1])
	if index == nil {
		a.note("cargo's index is not reached over HTTP")
		return
	}
	if dl := cargoFiles(ctx, a.o.Env, *index); dl != "" {
		a.files(dl)
		return
	}
	a.note("the index did not say where its archives are; they are taken to be on the same host")
}

// cargoFiles reads the field dl of a sparse index. The address that cargo complained of is the one of config.json, or of
// the package where cargo has the former already; a git index has neither.
func cargoFiles(ctx context.Context, env []string, config url.URL) string {
	if base, ok := strings.CutSuffix(config.Path, cargoPath); ok {
		config.Path = base + "/config.json"
	} else if !strings.HasSuffix(config.Path, "/config.json") {
		return ""
	}
	transport := &http.Transport{DisableKeepAlives: true}
	up, err := proxy.UpstreamFrom(env)
	if err != nil {
		return ""
	}
	if up != nil {
		transport.Proxy = func(r *http.Request) (*url.URL, error) { return up(r.URL) }
	}
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.String(), nil)
	if err != nil {
		return ""
	}
	resp, err := transport.RoundTrip(req) // no redirects: an index that moves is asked for by its new address
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var fields struct {
		DL string `json:"dl"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&fields) != nil {
		return ""
	}
	dl, _, _ := strings.Cut(fields.DL, "{") // a template's fields stand behind the host
	return dl
}

// cargoHome is where cargo's settings are. Naming it keeps them in effect.
func cargoHome(env []string) string {
	home := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, "CARGO_HOME="); ok && v != "" {
			return v
		}
		if v, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = filepath.Join(v, ".cargo")
		}
	}
	return home
}

func firstURL(text string) string { return anyURL.FindString(text) }
