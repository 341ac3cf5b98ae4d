// Package agent knows the coding-agent programs that run in terminals: how each is started, how it says that it is
// busy, asks, or is done, and how a prompt is brought to it so that it verifiably arrives.
//
// It promises:
//   - Registry and Launch: one recipe per agent, one check of whether it can be started.
//   - Parser: every signal that a program may write into its output, whatever the chunks, in bounded memory; every
//     text that comes out of it is cleaned and short, and still untrusted.
//   - Detector: the work state of one terminal. An explicit report outranks a title, a title outranks silence. "Done"
//     is said only after "working" was seen for the prompt at hand, and is taken back when the agent goes on. A quiet
//     agent causes no wake-up.
//   - Deliver: a prompt is typed when the program is ready, submitted when its text was seen, and never submitted into
//     a dialog, into another program or twice. What could not be confirmed is said to be so.
//   - Outcome: the one function that decides how a wait ends.
//   - Result: the agent's last answer, read from its own transcript.
//
// It does not cover processes, PTYs and screens (a Terminal is given), queues, the store, or who may send what.
package agent
