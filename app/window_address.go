package app

import (
	"net/url"
	"strings"
)

// maxAddress bounds an address that is handed to the system's opener as an argument.
const maxAddress = 2048

// webAddress reports whether an address may be opened in the browser: http or https, with a host, without control
// characters, blanks or anything that a shell in between could read as more than an address.
func webAddress(address string) bool {
	if len(address) > maxAddress || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\"'`<>|;\\", r) }) {
		return false
	}
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
