package proxy

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"termic/internal/fault"
)

// UpstreamFrom reads the user's own proxy out of an environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY in
// either case, upper first). It returns nil when there is none. A proxy that cannot be chained to is an error, a
// fault.Error that names the variable: going around it would be a connection that the user does not want.
func UpstreamFrom(env []string) (Upstream, error) {
	all, err := variable(env, "ALL_PROXY", "")
	if err != nil {
		return nil, err
	}
	plain, err := variable(env, "HTTP_PROXY", all)
	if err != nil {
		return nil, err
	}
	secure, err := variable(env, "HTTPS_PROXY", all)
	if err != nil {
		return nil, err
	}
	if plain == "" && secure == "" {
		return nil, nil
	}
	except, _ := lookup(env, "NO_PROXY")
	choose := (&httpproxy.Config{HTTPProxy: plain, HTTPSProxy: secure, NoProxy: except}).ProxyFunc()
	return func(request *url.URL) (*url.URL, error) { return choose(request) }, nil
}

// variable reads one setting and checks it.
func variable(env []string, name, otherwise string) (string, error) {
	value, found := lookup(env, name)
	if !found {
		return otherwise, nil
	}
	full := value
	if !strings.Contains(full, "://") {
		full = "http://" + full
	}
	u, err := url.Parse(full)
	if err != nil || u.Hostname() == "" {
		return "", fault.New(fault.InvalidArgument, "Your %s does not hold the address of a proxy", name).
			WithHint("It should look like http://proxy.example.com:3128.")
	}
	if !slices.Contains([]string{"http", "https"}, u.Scheme) {
		return "", fault.New(fault.Unsupported, "Your %s names a %s proxy, which the sandbox cannot pass requests on to", name, u.Scheme).
			WithHint("Set it to an http or https proxy, or start Termic without it.")
	}
	return full, nil
}

// lookup finds a variable by its name in capitals or, failing that, in small letters; an empty one is none.
func lookup(env []string, name string) (string, bool) {
	for _, n := range []string{name, strings.ToLower(name)} {
		for _, entry := range slices.Backward(env) {
			if v, ok := strings.CutPrefix(entry, n+"="); ok && v != "" {
				return v, true
			}
		}
	}
	return "", false
}
