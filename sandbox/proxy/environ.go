package proxy

import (
	"net/url"
	"strings"

	"termic/internal/secret"
)

// Child says how a child reaches its proxy.
type Child struct {
	Addr string        // host and port of the proxy as the child sees it
	Auth secret.String // Options.Auth, where that is set
	// Direct tells that the child also has the network itself (Monitor). Then the user's own exceptions stay; in
	// Enforce they would send the child where there is no way, so only those for the loopback stay.
	Direct bool
	User   []string // the user's environment, as NAME=VALUE
}

// loopback is what never goes through the proxy: the child's own servers and the MCP endpoint.
var loopback = [...]string{"127.0.0.1", "localhost", "::1"}

// Environment returns the variables that lead a child's programs to its proxy, as NAME=VALUE: HTTP_PROXY, HTTPS_PROXY,
// ALL_PROXY and NO_PROXY in both cases, since programs differ in which they read, and NODE_USE_ENV_PROXY, without which
// Node's own fetch (22.21 and 24 on; 20 has no way) ignores them. They replace everything that IsVariable tells of.
func Environment(c Child) []string {
	u := url.URL{Scheme: "http", Host: c.Addr}
	if !c.Auth.Empty() {
		u.User = url.UserPassword(User, c.Auth.Reveal())
	}
	except := strings.Join(exceptions(c), ",")
	var out []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		out = append(out, name+"="+u.String(), strings.ToLower(name)+"="+u.String())
	}
	return append(out, "NO_PROXY="+except, "no_proxy="+except, "NODE_USE_ENV_PROXY=1")
}

// exceptions merges the user's list into ours, without repetition.
func exceptions(c Child) []string {
	out := loopback[:]
	seen := map[string]bool{}
	for _, s := range out {
		seen[s] = true
	}
	for _, entry := range c.User {
		name, list, _ := strings.Cut(entry, "=")
		if !strings.EqualFold(name, "no_proxy") {
			continue
		}
		for s := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
			if !seen[s] && (c.Direct || s == "[::1]" || s == ".localhost" || strings.HasSuffix(s, ".localhost")) {
				seen[s] = true
				out = append(out[:len(out):len(out)], s)
			}
		}
	}
	return out
}

// IsVariable tells whether a variable steers a program to a proxy. A child that gets Environment gets none of these
// from the user: a proxy of the user's network cannot be reached from a cage.
func IsVariable(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "node_use_env_proxy", "npm_config_noproxy", "global_agent_no_proxy":
		return true
	}
	for _, prefix := range []string{"", "npm_config_", "yarn_", "cargo_", "pip_", "global_agent_"} {
		switch strings.TrimPrefix(name, prefix) {
		case "http_proxy", "https_proxy", "all_proxy", "no_proxy", "ftp_proxy", "socks_proxy", "rsync_proxy", "grpc_proxy",
			"no_grpc_proxy", "ws_proxy", "wss_proxy":
			return true
		case "proxy":
			return prefix != ""
		}
	}
	return false
}
