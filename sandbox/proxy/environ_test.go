package proxy

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"termic/internal/fault"
)

func TestEnvironment(t *testing.T) {
	tests := []struct {
		name  string
		child Child
		want  string
	}{
		{"enforce", Child{Addr: "127.0.0.1:3128", User: []string{"NO_PROXY=corp.test,*", "no_proxy=.localhost", "HTTP_PROXY=http://corp.test"}},
			"HTTP_PROXY=http://127.0.0.1:3128 http_proxy=http://127.0.0.1:3128 HTTPS_PROXY=http://127.0.0.1:3128 https_proxy=http://127.0.0.1:3128 " +
				"ALL_PROXY=http://127.0.0.1:3128 all_proxy=http://127.0.0.1:3128 " +
				"NO_PROXY=127.0.0.1,localhost,::1,.localhost no_proxy=127.0.0.1,localhost,::1,.localhost NODE_USE_ENV_PROXY=1"},
		{"monitor", Child{Addr: "127.0.0.1:1", Direct: true, User: []string{"X=1", "NO_PROXY=corp.test, localhost ,10.0.0.0/8", "no_proxy=corp.test"}},
			"NO_PROXY=127.0.0.1,localhost,::1,corp.test,10.0.0.0/8"},
		{"password", Child{Addr: "127.0.0.1:1", Auth: mustSecret("p@ss/1")}, "HTTPS_PROXY=http://termic:p%40ss%2F1@127.0.0.1:1"},
	}
	for _, tt := range tests {
		got := strings.Join(Environment(tt.child), " ")
		if tt.name == "enforce" && got != tt.want || !strings.Contains(got+" ", tt.want+" ") {
			t.Errorf("%s: %s", tt.name, got)
		}
		for _, e := range Environment(tt.child) {
			if name, _, _ := strings.Cut(e, "="); !IsVariable(name) {
				t.Errorf("%s is set, and not told of", name)
			}
		}
	}
}

func TestIsVariable(t *testing.T) {
	for name, want := range map[string]bool{
		"HTTP_PROXY": true, "http_proxy": true, "Https_Proxy": true, "all_proxy": true, "NO_PROXY": true, "FTP_PROXY": true,
		"npm_config_proxy": true, "NPM_CONFIG_HTTPS_PROXY": true, "npm_config_noproxy": true, "CARGO_HTTP_PROXY": true,
		"PIP_PROXY": true, "GLOBAL_AGENT_HTTP_PROXY": true, "NODE_USE_ENV_PROXY": true,
		"PROXY": false, "GOPROXY": false, "PATH": false, "MY_HTTP_PROXY": false, "": false, "http_proxy_x": false,
	} {
		if IsVariable(name) != want {
			t.Errorf("IsVariable(%q) = %v", name, !want)
		}
	}
}

func TestUpstreamFrom(t *testing.T) {
	tests := []struct {
		env     string
		request string
		want    string
	}{
		{"", "https://a.test:443", ""},
		{"HTTPS_PROXY=http://u:p@corp.test:3128", "https://a.test:443", "http://u:p@corp.test:3128"},
		{"HTTPS_PROXY=http://corp.test:3128", "http://a.test:80", ""},
		{"https_proxy=corp.test:3128", "https://a.test:443", "http://corp.test:3128"},
		{"http_proxy=http://low.test HTTP_PROXY=http://up.test", "http://a.test:80", "http://up.test"},
		{"ALL_PROXY=https://corp.test", "https://a.test:443", "https://corp.test"},
		{"ALL_PROXY=http://all.test HTTPS_PROXY=http://s.test", "https://a.test:443", "http://s.test"},
		{"HTTPS_PROXY=http://corp.test NO_PROXY=a.test,.b.test", "https://a.test:443", ""},
		{"HTTPS_PROXY=http://corp.test NO_PROXY=a.test,.b.test", "https://x.b.test:443", ""},
		{"HTTPS_PROXY=http://corp.test no_proxy=a.test", "https://c.test:443", "http://corp.test"},
		{"HTTPS_PROXY=http://corp.test", "https://127.0.0.2:9000", ""},
		{"HTTPS_PROXY= ALL_PROXY=", "https://a.test:443", ""},
	}
	for _, tt := range tests {
		up, err := UpstreamFrom(strings.Fields(tt.env))
		if err != nil {
			t.Errorf("%s: %v", tt.env, err)
			continue
		}
		got := ""
		if up != nil {
			u, _ := url.Parse(tt.request)
			if at, err := up(u); err != nil {
				t.Errorf("%s: %v", tt.env, err)
			} else if at != nil {
				got = at.String()
			}
		}
		if got != tt.want {
			t.Errorf("%s for %s: %q, want %q", tt.env, tt.request, got, tt.want)
		}
	}
	for _, env := range []string{"ALL_PROXY=socks5://corp.test:1080", "HTTPS_PROXY=socks5h://u:secret@corp.test", "HTTP_PROXY=http://", "HTTPS_PROXY=http://a b"} {
		_, err := UpstreamFrom([]string{env})
		if code := fault.CodeOf(err); !slices.Contains([]fault.Code{fault.Unsupported, fault.InvalidArgument}, code) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", env, err)
		}
	}
}
