package attack

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// proxyProbes reach forbidden places through the proxy that the environment names, or directly where it names none.
func proxyProbes() map[string]probe {
	other := func(host string) func(*Ground) string {
		return func(g *Ground) string { return net.JoinHostPort(host, strconv.Itoa(g.OtherPort)) }
	}
	return map[string]probe{
		"proxy/loopback":  connects(other("127.0.0.1"), ""),
		"proxy/endpoint":  connects(func(g *Ground) string { return Loopback(g.MCPPort) }, ""),
		"proxy/name":      connects(other("localhost"), ""),
		"proxy/dot":       connects(other("localhost."), "localhost"),
		"proxy/decimal":   connects(other("2130706433"), "127.0.0.1"),
		"proxy/short":     connects(other("127.1"), "127.0.0.1"),
		"proxy/mapped":    connects(other("::ffff:127.0.0.1"), ""),
		"proxy/loopback6": connects(other("::1"), ""),
		"proxy/host":      connects(func(g *Ground) string { return net.JoinHostPort(g.Host, strconv.Itoa(g.OtherPort)) }, ""),
		"proxy/userinfo":  connects(func(g *Ground) string { return "allowed.example@" + Loopback(g.OtherPort) }, "127.0.0.1"),
		"proxy/absolute":  proxyAbsolute,
		"proxy/host-lies": proxyHostLies,
	}
}

// viaProxy connects to the proxy, or to the target itself where there is no proxy.
func viaProxy(direct string) (c net.Conn, proxied bool, err error) {
	d := net.Dialer{Timeout: netTime}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if u, err := url.Parse(os.Getenv(name)); err == nil && u.Host != "" {
			c, err := d.Dial("tcp", u.Host)
			return c, true, err
		}
	}
	c, err = d.Dial("tcp", direct)
	return c, false, err
}

// connects asks the proxy for a tunnel to a target. Plain is how a host that the system's own resolver does not take is
// written for the uncaged try.
func connects(target func(*Ground) string, plain string) probe {
	return func(g *Ground, name string) (string, error) {
		to := target(g)
		direct := to
		if plain != "" {
			direct = net.JoinHostPort(plain, strconv.Itoa(g.OtherPort))
		}
		c, proxied, err := viaProxy(direct)
		if err != nil {
			return "", err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(netTime))
		if proxied {
			if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", to, to); err != nil {
				return "", err
			}
			answer, err := bufio.NewReader(c).ReadString('\n')
			if err != nil || !strings.Contains(answer, " 200 ") {
				return "", fmt.Errorf("the proxy says %q: %w", answer, errorsOr(err, errNot))
			}
		}
		return converse(c, name)
	}
}

// proxyAbsolute asks for a page of the other service in absolute form.
func proxyAbsolute(g *Ground, name string) (string, error) {
	return proxyGet(g, Loopback(g.OtherPort), Loopback(g.OtherPort))
}

// proxyHostLies asks for an allowed name and says another host in the header, and the reverse.
func proxyHostLies(g *Ground, name string) (string, error) {
	return first(
		func() (string, error) { return proxyGet(g, "allowed.example", Loopback(g.OtherPort)) },
		func() (string, error) { return proxyGet(g, Loopback(g.OtherPort), "allowed.example") },
	)
}

func proxyGet(g *Ground, target, header string) (string, error) {
	c, _, err := viaProxy(Loopback(g.OtherPort))
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(netTime))
	if _, err := fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, header); err != nil {
		return "", err
	}
	in := bufio.NewReader(c)
	if text, err := in.Peek(5); err == nil && string(text) != "HTTP/" {
		rest, _ := in.ReadString('\n') // the service itself answered, without a line end
		return string(text) + rest, nil
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return "", fmt.Errorf("the proxy says %s", resp.Status)
}
