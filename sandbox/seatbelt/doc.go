// Package seatbelt writes the text of a macOS sandbox profile, and reads it back to judge single operations.
//
// Text is pure: it can be made and tested on every system. The profile goes to /usr/bin/sandbox-exec on its command line
// (-p), never through a file that a cage could write. In a profile the last rule that matches decides, so the order is the
// policy: everything is denied, then come the basics of a process, reads, writes, what is taken back inside them, and as
// the last file rule the denial of Termic's data folder; then the network, whose last rule denies Termic's own sockets.
//
// Evaluate reads the subset of the profile language that Text writes, by the same rule, and refuses whatever it does not
// know. It is how the profile is held to the same table of attacks as the Linux cage, without a Mac.
//
// It promises that no list of grants makes Text print a profile in which the data folder can be read, a control socket
// reached or, with a network of its own, any loopback port but the given ones. It does not cover what the kernel of a
// Mac makes of the text: names of services and the forms of network addresses are written from documentation, and were
// not tried.
package seatbelt
