// Package ptyhost runs programs in pseudo-terminals and lets several viewers join and leave while they run.
//
// # What it promises
//
//   - Every terminal is a session of its own. Its program inherits descriptors 0, 1 and 2 and no other.
//   - Output is numbered: a Seq is the count of bytes ever printed. A ring keeps the last RingBytes, and a screen (an
//     emulator fed with every byte) can be drawn again on a fresh terminal from escape sequences alone.
//   - Input is ordered per terminal and delivered whole. A program that does not read delays its own writers only.
//   - A terminal query of the program (device attributes, cursor position, colours) is answered by exactly one side:
//     by this package while no visible attachment answers queries, by that attachment otherwise.
//   - A viewer that reads slows a flood down to what it draws. One that follows the end, and hidden ones, do not: they are
//     given the screen.
//   - The exit is told once, after the last byte. Then, and on End, the whole session is ended: TERM, a grace, KILL,
//     and so are processes that left the session but carry the terminal's marker in their environment.
//   - A quiet terminal costs no wake-up: nothing here polls or ticks while nothing is printed, typed or ended.
//
// # What it does not cover
//
// Meaning: whether an agent is busy or idle is decided elsewhere, from the bytes that Spec.Tap sees. Policy: the
// environment and the arguments of a program come from the caller. Windows: the package compiles there, and Start
// answers that terminals are not supported. Everything printed, titles included, is untrusted text.
package ptyhost
