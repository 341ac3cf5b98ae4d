// Package agenthome makes the home folder that an agent gets in a cage: a private one per task, with enough of the
// user's own in it that the agent starts as it would outside, and nothing that runs by itself.
//
// It promises:
//   - Prepare copies by an allow-list only: login, finished onboarding, trust of the task's folders, the approved key,
//     model, theme, memory, commands, skills and the identity of git. Hooks, servers, plugins, notifiers, helpers,
//     aliases and includes are not on it.
//   - Return takes a login that an agent refreshed in its home back to where the user's own agents look: known fields
//     only, of the same form and account, the newest expiry wins, in one step and under a lock. What it took, or found
//     newer in the user's place, goes to the other live homes.
//   - A caged program writes into these homes at any time. So no link in one is ever followed, what is opened is a
//     regular file with one name and of bounded size, and a pipe in its place does not hold anybody up.
//   - Nothing else of a home is read. Transcripts tells where an agent in such a home keeps its conversations, for
//     those who read them as the untrusted text that they are.
//
// It does not cover the cage itself, which binds the folder (Linux) or points HOME at it (macOS); logins in a system
// keychain, which a cage has no access to; and who an opaque token belongs to, which only its issuer can tell. Claude
// Code and Codex were tried with their real programs; Gemini CLI, OpenCode, Copilot and Grok are written from their
// documentation. On Windows there are no cages, and every function answers so.
package agenthome
