// Package control is the way in for the command line: a unix socket in the data folder, its server and its client.
//
// What it promises. Only processes of the same user are heard: the peer's user id is asked of the kernel before one
// byte is read, and the socket is a 0600 file in a 0700 folder. Everything but hello and raise then needs the token of
// the cli-token file, which is minted anew at each start, after the socket was bound. Whether the command line is
// switched on is asked again for every request. A caller who passed is the owner; what he asks for goes to the
// dispatcher as it is, so the socket adds no behaviour and no authority.
//
// The protocol is lines of JSON, one message each, at most MaxLine bytes after escaping. A connection carries one
// request after another; each is answered by any number of events and exactly one reply:
//
//	-> {"id":"1","token":"…","verb":"task_wait","params":{"task":"fix"}}
//	<- {"id":"1","stream":true,"event":"state","state":"working"}
//	<- {"id":"1","ok":true,"data":{…}}   or   {"id":"1","ok":false,"error":{"code":"…","message":"…"}}
//
// While a call runs the server tells a heartbeat every 10 s. When the client hangs up the call's context is cancelled;
// a client that closes only its sending side counts as gone. The verb attach takes the connection over: frames go both
// ways until one reply ends it (see Frame). Unknown fields are tolerated on both sides and shapes only grow; a change
// that an old reader would misunderstand raises Protocol, and hello is the gate that compares it.
//
// A window can be shown by another process than the one that serves. It asks with the verb window, is told on that
// connection when something changed or when it should come forward, and gets a ticket: whoever calls with the ticket in
// the place of the token is the owner on the window, until that connection ends (see Feed). There is one window at a time,
// and none while the command line is switched off. Answers to it may be up to MaxWindowLine bytes long.
//
// It does not cover: who may do what (package verb), other users, other machines.
package control
