package mcp

import (
	"net/http"
	"slices"
	"strings"
)

// Names in `_meta`.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
)

// logLevels are the values that logLevel may have. Nothing is ever logged to a client.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// exchange is one request on its way through the checks.
type exchange struct {
	request
	header  http.Header
	version string // of the header
	run     method // of the table, once it is known
	name    string // of the tool, or the address of the resource
	// resources is whether the owner offers them at this moment.
	resources bool
}

// checks are what a request must pass before it is run, in this order. The first that fails answers.
var checks = []func(*exchange) *rpcError{
	legacyHandshake,
	versionHeader,
	metaHasVersion,
	versionsAgree,
	versionIsSpoken,
	metaHasCapabilities,
	metaIsSound,
	methodHeader,
	methodIsKnown,
	nameHeader,
}

// check runs them all.
func (x *exchange) check() *rpcError {
	for _, c := range checks {
		if err := c(x); err != nil {
			return err
		}
	}
	return nil
}

// legacyHandshake answers a client that only knows older revisions. It cannot go on from there, so the message is all
// that its user will see.
func legacyHandshake(x *exchange) *rpcError {
	header, ok := single(x.header, headerVersion)
	if x.method != "initialize" || ok && header >= Revision || get(x.meta, metaVersion) != nil {
		return nil
	}
	requested, _ := text(get(x.params, "protocolVersion")) // the answer names what is spoken in any case
	return unsupported(requested)
}

func unsupported(requested string) *rpcError {
	return &rpcError{status: http.StatusBadRequest, code: codeUnsupported,
		message: "This server speaks revision " + Revision + " of MCP only, without a handshake; use a client that does",
		data: struct {
			Supported []string `json:"supported"`
			Requested string   `json:"requested"`
		}{[]string{Revision}, requested}}
}

func badHeader(message string) *rpcError { return refuse(http.StatusBadRequest, codeHeader, message) }

func badMeta(message string) *rpcError { return refuse(http.StatusBadRequest, codeParams, message) }

func versionHeader(x *exchange) *rpcError {
	var ok bool
	if x.version, ok = single(x.header, headerVersion); !ok {
		return badHeader("MCP-Protocol-Version is needed exactly once; this server speaks " + Revision)
	}
	return nil
}

func metaHasVersion(x *exchange) *rpcError {
	if _, ok := text(get(x.meta, metaVersion)); !ok {
		return badMeta("params._meta needs " + metaVersion + ", a string")
	}
	return nil
}

func versionsAgree(x *exchange) *rpcError {
	if body, _ := text(get(x.meta, metaVersion)); body != x.version {
		return badHeader("MCP-Protocol-Version is not the version in _meta")
	}
	return nil
}

func versionIsSpoken(x *exchange) *rpcError {
	if x.version != Revision {
		return unsupported(x.version)
	}
	return nil
}

func metaHasCapabilities(x *exchange) *rpcError {
	if !isObject(get(x.meta, metaCapabilities)) {
		return badMeta("params._meta needs " + metaCapabilities + ", an object")
	}
	return nil
}

// metaIsSound looks at what else could be taken for something it is not. Unknown names are nobody's business.
func metaIsSound(x *exchange) *rpcError {
	if name := misspelt(x.params, paramNames); name != "" {
		return badMeta("The name of a parameter is written in the wrong case")
	}
	if name := misspelt(x.meta, metaNames); name != "" {
		return badMeta("A name in _meta is written in the wrong case")
	}
	if raw := get(x.meta, metaLogLevel); raw != nil {
		if level, ok := text(raw); !ok || !slices.Contains(logLevels, level) {
			return badMeta(metaLogLevel + " is none of: " + strings.Join(logLevels, ", "))
		}
	}
	return nil
}

func methodHeader(x *exchange) *rpcError {
	if header, ok := single(x.header, headerMethod); !ok || header != x.method {
		return badHeader("Mcp-Method is needed exactly once, with the method of the body")
	}
	return nil
}

func methodIsKnown(x *exchange) *rpcError {
	for _, m := range methods {
		if m.name == x.method && (x.resources || !m.resource) {
			x.run = m
			return nil
		}
	}
	return refuse(http.StatusNotFound, codeMethod, "There is no such method")
}

// nameHeader compares Mcp-Name with the body. On other methods the header has no meaning.
func nameHeader(x *exchange) *rpcError {
	if x.run.named == "" {
		return nil
	}
	header, ok := single(x.header, headerName)
	if ok {
		header, ok = unwrap(header)
	}
	if !ok {
		return badHeader("Mcp-Name is needed exactly once, with the " + x.run.named + " of the parameters, in base64 where it is not plain")
	}
	raw := get(x.params, x.run.named)
	if x.name, ok = text(raw); !ok {
		return refuse(http.StatusOK, codeParams, "The parameter "+x.run.named+" is a string")
	}
	if header != x.name {
		return badHeader("Mcp-Name is not the " + x.run.named + " in the body")
	}
	return nil
}
