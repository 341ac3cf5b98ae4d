package check

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"termic/internal/fault"
)

// ops are how a metric is compared.
var ops = []string{">", ">=", "<", "<=", "==", "!="}

// Ops are how a metric can be compared with a value.
func Ops() []string { return slices.Clone(ops) }

// maxDays bounds MinDays; no public certificate is valid for longer than about 400 days, private ones for some decades.
const maxDays = 36500

// Check puts defaults in and refuses what could not be looked at, and every field of another kind, by its name.
func (s Spec) Check() (Spec, error) {
	if !slices.Contains(Kinds(), s.Kind) {
		return s, bad("kind", "%q is no kind of check; there are %s", s.Kind, strings.Join(kindNames(), ", "))
	}
	if s.Interval == 0 {
		s.Interval = DefaultInterval
	}
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	switch {
	case s.Interval < MinInterval || s.Interval > MaxInterval:
		return s, bad("everyMs", "A check is made every 10 seconds to 24 hours, not every %s", s.Interval)
	case s.Timeout < time.Millisecond || s.Timeout > MaxTimeout:
		return s, bad("lookMs", "A look at a target takes up to 60 seconds, not %s", s.Timeout)
	case s.Retries < 0 || s.Retries > MaxRetries:
		return s, bad("retries", "A look is repeated up to %d times, not %d", MaxRetries, s.Retries)
	}
	if err := s.fields(); err != nil {
		return s, err
	}
	return s, s.targets()
}

func kindNames() []string {
	out := []string{}
	for _, k := range Kinds() {
		out = append(out, string(k))
	}
	return out
}

// fields refuses what belongs to another kind, and what is missing or wrong in what belongs to this one.
func (s Spec) fields() error {
	for _, f := range []struct {
		name string
		of   Kind
		set  bool
	}{
		{"expect", HTTP, s.Expect != ""}, {"minDays", TLS, s.MinDays != 0}, {"expectAddr", DNS, s.ExpectAddr != ""},
		{"op", Metric, s.Op != ""}, {"value", Metric, s.Value != ""},
	} {
		if f.set && f.of != s.Kind {
			return bad(f.name, "%s belongs to checks of the kind %s, and this one is of the kind %s", withFlag(f.name), f.of, s.Kind)
		}
	}
	switch s.Kind {
	case HTTP:
		if len(s.Expect) > MaxText {
			return bad("expect", "The expected text is longer than %d bytes", MaxText)
		}
	case TLS:
		if s.MinDays < 0 || s.MinDays > maxDays {
			return bad("minDays", withFlag("minDays")+" goes from 0 to %d, not %d", maxDays, s.MinDays)
		}
	case DNS:
		if s.ExpectAddr != "" {
			if a, err := netip.ParseAddr(s.ExpectAddr); err != nil || a.Zone() != "" {
				return bad("expectAddr", "%q is no address", s.ExpectAddr)
			}
		}
	case Metric:
		if s.Op == "" || s.Value == "" {
			return bad("op", "A check of the kind metric needs both op and value")
		}
		if !slices.Contains(ops, s.Op) {
			return bad("op", "%q compares nothing; write one of %s", s.Op, strings.Join(ops, " "))
		}
		if _, err := strconv.ParseFloat(s.Value, 64); err != nil {
			return bad("value", "%q is no number", s.Value)
		}
	}
	return nil
}

// withFlag is the name of a field, with that of its flag where a person at a shell would not know it.
func withFlag(name string) string {
	switch name {
	case "minDays":
		return name + " (--min-days)"
	case "expectAddr":
		return name + " (--expect-addr)"
	}
	return name
}

func (s Spec) targets() error {
	switch {
	case len(s.Targets) == 0:
		return bad("target", "A check needs a target")
	case len(s.Targets) > MaxTargets:
		return bad("target", "A check has at most %d targets, and these are %d", MaxTargets, len(s.Targets))
	}
	for i, t := range s.Targets {
		if slices.Contains(s.Targets[:i], t) {
			return bad("target", "The target %q is there twice", t)
		}
		if len(t) > MaxTarget || strings.ContainsAny(t, "\x00\r\n") {
			return bad("target", "A target is one line of at most %d bytes", MaxTarget)
		}
		if err := s.target(t); err != nil {
			return err
		}
	}
	return nil
}

func (s Spec) target(t string) (err error) {
	switch s.Kind {
	case HTTP:
		_, err = pageURL(t)
	case Metric:
		_, _, err = metricTarget(t)
	case TLS:
		_, _, err = hostPort(t, "443")
	case TCP:
		_, _, err = hostPort(t, "")
	case DNS:
		_, _, err = dnsTarget(t)
	case Command:
		_, err = commandLine(t)
	}
	return err
}

// pageURL reads the address of a page. One with a password is refused, since targets are stored and shown.
func pageURL(t string) (*url.URL, error) {
	u, err := url.Parse(t)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, bad("target", "%q is not the address of a page, such as https://example.com/health", t)
	case u.User != nil:
		return nil, bad("target", "The address has a name or a password in it, which would be stored and shown")
	}
	return u, nil
}

// hostPort reads "example.com:443" and "[2001:db8::1]:443". port stands in where there is none; without one it is required.
func hostPort(t, port string) (host, p string, err error) {
	host, p, err = net.SplitHostPort(t)
	if err != nil && port != "" {
		host, p, err = strings.Trim(t, "[]"), port, nil
		if strings.Contains(host, ":") {
			if _, aerr := netip.ParseAddr(host); aerr != nil {
				err = aerr
			}
		}
	}
	n, perr := strconv.ParseUint(p, 10, 16)
	if err != nil || perr != nil || n == 0 || host == "" || strings.ContainsAny(host, "/@ \t?#%") {
		example := "example.com:5432"
		if port != "" {
			example = "example.com, or example.com:8443"
		}
		return "", "", bad("target", "%q is not a host and a port, such as %s", t, example)
	}
	return host, p, nil
}

// dnsTarget reads "example.com", and "example.com@192.0.2.53:53" for a resolver of one's own.
func dnsTarget(t string) (name, server string, err error) {
	name, server, own := strings.Cut(t, "@")
	if name == "" || strings.ContainsAny(name, "/: \t?#%") {
		return "", "", bad("target", "%q is not a name, such as example.com, or example.com@192.0.2.53", t)
	}
	if !own {
		return name, "", nil
	}
	host, port, err := hostPort(server, "53")
	if _, aerr := netip.ParseAddr(host); err != nil || aerr != nil {
		return "", "", bad("target", "%q asks a resolver that is not an address, such as example.com@192.0.2.53", t)
	}
	return name, net.JoinHostPort(host, port), nil
}

func bad(param, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, format, args...).WithData("param", param)
}
