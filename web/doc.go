// Package web is the browser and API face: the verbs over HTTPS for people in a browser and for programs elsewhere, each with
// a named token of this face. It is off unless the app is told where to listen.
//
// Routes:
//
//	GET    /                          the page, and the files that it loads; they are the same for everybody
//	POST   /api/v1/session            a page logs in with {"token"}: a cookie, and a key for the page to send with it
//	GET    /api/v1/session            whose token it is, and which verbs it has
//	DELETE /api/v1/session            logs out
//	POST   /api/v1/VERB               runs a verb with the parameters in the body
//	GET    /api/v1/VERB?NAME=VALUE    the same for verbs that read
//	GET    /api/v1/changes            a stream of server-sent events: something changed
//	GET    /api/v1/jobs/JOB/events    the same for the steps of a job, until it ended
//
// It promises:
//
//   - A request is refused at the first thing that is wrong with it, in this order: the name that it calls this machine by, the
//     page that it comes from, path and method, token, size. Nothing that a refused request asks for is done.
//   - Only this face's own pages may call it: any other Origin is refused before a token is looked at, no answer holds a CORS
//     header, no page may frame it, and a name that is not its own is refused, whatever address it leads to.
//   - A cookie alone opens nothing: it needs the key that only the page's own origin can read, since browsers send a cookie to
//     every port of a host. It ends with its token, with what that gives, when it runs out, and with the logout.
//   - A request without a right token gets a bare 401. Everything after that answers with the verb's own bytes, which are those
//     of every face, or with {"error":{"code","message","hint"}}.
//   - Everything is bounded: heads, bodies, connections, calls and streams of each token, logins, and times.
//
// It does not cover what a verb may do for whom, which the dispatcher decides; where tokens are kept; terminals, which are the
// owner's and not a token's.
package web
