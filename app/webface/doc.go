// Package webface is the face of the app towards its own page: the HTTP handler that the window's asset server and the
// test bridge both mount. It turns requests of the page into calls of the owner on the window's face, and streams back
// what changed and what terminals print.
//
// Routes, all below [Prefix]:
//
//	POST call                  {"verb","params"} -> {"ok":true,"data"} or {"ok":false,"error"}
//	GET  events                lines of {"rev":N}, one whenever the app's revision moved
//	GET  term/out              frames of all the terminals of a page, each on its channel (see wire.go)
//	POST term/PAGE/N/attach    {"task","tab","cols","rows"}: a terminal joins that stream on channel N
//	POST term/PAGE/N/in        bytes for the program; 503 while too much waits for it, 410 when it is gone
//	POST term/PAGE/tell        [{"ch","ack","cols","rows","hidden","close"}]: what changed of the page's terminals
//
// What it promises: bodies, lines and streams are bounded; a page needs two connections that last, however many terminals
// it shows, and no request of a terminal waits for its program; a stream that ends closes what is attached to it; Close
// ends all of them and waits. Terminals take turns on their stream, frame by frame, and each keeps its own order. Nothing
// here decides what a caller may do: that is the dispatcher's.
//
// What it does not cover: who may connect. The window's asset server is reachable by its own page only, and the test
// bridge puts an unguessable path before these routes.
package webface
