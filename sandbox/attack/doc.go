// Package attack is the program that tries to get out of a cage, and the table of what must come of each try.
//
// A probe is one try: it reads a secret by some name, signals a foreign process, speaks to a socket outside, plants
// something that would run later. A row of the table says which verdict must hold in each mode. The test starts the
// program three ways: without a cage, where every probe must get out (otherwise it proves nothing and does not count),
// and in the real cages, where the verdicts of the table must hold. Whether a try got out is judged outside the cage
// wherever that is possible: by a secret that came back, by a file that changed, by a connection that arrived, by a
// script that ran when the user's own git was started afterwards.
//
// It promises that a probe without a row, a row without a probe, and any verdict that differs from the table are red.
// It does not cover faults of the kernel, side channels, or what an allowed host does with what it is sent.
//
// The table is free of build tags, so that the seatbelt text of macOS can be judged by the same rows: see Row.Touch.
package attack
