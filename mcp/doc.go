// Package mcp is the MCP endpoint: the verbs of the program as tools, by stateless JSON-RPC over HTTP on loopback. It
// speaks one revision of the protocol, and every request stands for itself: no handshake, no session, no stream.
//
// A Server answers POST /mcp on listeners that it is given. It promises:
//
//   - A request is refused at the first thing that is wrong with it, always in the order that the files are named in:
//     gate.go (path, host, origin, method, token, media type, size), envelope.go (one JSON-RPC object, exactly), and
//     checks.go (version, `_meta`, headers that must repeat the body). Nothing that a refused request asks for is done.
//   - Possession of a token is the identity. Options.Authorize turns it into a caller; nothing else that a client says
//     about itself is used for anything, and no answer to a missing, wrong or foreign token differs from another.
//   - No answer holds a CORS header, so that no web page can read one; every request of a page is refused before its
//     token is looked at.
//   - Tools are made from the verb table. The result of a call is byte for byte what every other face gets.
//   - Everything is bounded: heads, bodies, depth, connections, and every time but that of a verb, which has its own.
//     Slow and idle connections make way for those that send something.
//   - When a client goes away its call is cancelled.
//
// It does not cover what a verb may do for whom, which the dispatcher decides; where tokens and ports are kept, which
// the app does; streams of events, resources and prompts of the protocol, which it does not offer.
package mcp

import "termic/internal/api"

// Revision is the one revision of the protocol that is spoken.
const Revision = api.MCPRevision

// Path is where the endpoint is. Everything else is 404 without a body, the well-known addresses of OAuth above all: a
// client that finds anything there begins to log in instead of reading its token again.
const Path = "/mcp"

// TokenHeader carries the token where a client keeps the Authorization header for itself.
const TokenHeader = "X-Termic-Token"

// ServerName is how the server calls itself.
const ServerName = "termic"

// cacheMillis is how long a client may keep the list of tools and the discovery: they change only with the version of
// the app or with the token.
const cacheMillis = 3_600_000
