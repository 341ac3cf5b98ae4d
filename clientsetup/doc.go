// Package clientsetup registers Termic's MCP endpoint with the client programs that a person has: Claude Code, Codex and
// others. For each client it offers the same five acts: [Place.Detect] looks, [Place.Plan] says what would change, without
// touching anything, [Place.Apply] does it, [Place.Verify] connects as the client would, and [Place.Remove] takes it back.
//
// What it promises:
//
//   - No credential is written. An entry holds a command (or, where a client knows no better, the name of a file) that reads
//     the 0600 token file whenever the client connects, so a registration survives that the token changes.
//   - A file that only we write is edited by its bytes: comments, order, line ends, a byte order mark and a missing last
//     newline stay, and whatever is not ours means the same afterwards. That is checked before the file is replaced. A file
//     that does not parse, or whose shape surprises, is refused with the reason and stays as it is.
//   - Remove after Apply gives back the very bytes, if nobody else wrote in between, and else the meaning outside of our
//     entry. An entry of the same name that was somebody else's comes back. An entry that was changed by hand since is
//     removed only with consent.
//   - Apply twice is Apply once; the second does not touch the file.
//   - Before a file is replaced, a copy is put beside it (0600; the last five are kept). Links are followed, modes kept. If
//     another program writes the file at the same time, the edit is made again upon what that one wrote.
//   - Claude Code's file is written by Claude Code alone, since every one of its processes writes it: we run `claude mcp`.
//   - A client that cannot speak the endpoint's revision gets no entry that would fail, but is told so, with its version.
//
// What it does not cover: enterprise policies of clients, programs of other users, and Windows, whose shells cannot run the
// command. It reads no environment of its own: everything comes in a [Place].
package clientsetup
