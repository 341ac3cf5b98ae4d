// Package webface is the face of the app towards its own page: the HTTP handler that the window's asset server and the
// test bridge both mount. It turns requests of the page into calls of the owner on the window's face, and streams back
// what changed and what terminals print.
//
// Routes, all below [Prefix]:
//
//	POST call                  {"verb","params"} -> {"ok":true,"data"} or {"ok":false,"error"}
//	GET  events                lines of {"rev":N}, one whenever the app's revision moved
//	GET  term/TASK/TAB/out     frames of a terminal; the first names the attachment (see wire.go)
//	POST term/ATTACHMENT/in    bytes for the program
//	POST term/ATTACHMENT/ack, resize, hide, show, close
//
// What it promises: bodies, lines and streams are bounded; a stream that ends closes its attachment; Close ends all of
// them and waits. Nothing here decides what a caller may do: that is the dispatcher's.
//
// What it does not cover: who may connect. The window's asset server is reachable by its own page only, and the test
// bridge puts an unguessable path before these routes.
package webface
