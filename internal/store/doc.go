// Package store keeps the state of record of Termic in one SQLite file: projects, tasks, tabs, queued prompts, running
// terminals, jobs, idempotency keys, intents and the ledger.
//
// What it promises:
//
//   - A writing method that returned nil is durable: it survives the death of the process and of the machine
//     (WAL with synchronous=FULL). One that returned an error changed nothing. The context of a writing method bounds
//     the wait for the one writer; a transaction that began is always finished, so that its outcome is never in doubt.
//   - Several changes that belong together are one transaction: see [Store.Write]. Inside it every check sees what the
//     transaction will commit on, so first-fit ports, unique names and idempotency keys cannot race.
//   - A database that this version does not understand (newer schema, damaged, of another program) is refused with a
//     sentence for the user and left as it was. Before each migration a copy is written beside the database.
//   - The ledger only grows at its end; its rows are chained by hash, and pruning moves an anchor from which the chain
//     still verifies. See [Store.VerifyChain].
//   - Everything is bounded: texts, lists, kept prompts, jobs, keys and ledger rows.
//
// What it does not cover: rules about who may do what, files and git (see intents), and protection against a person who
// can write the file: the hash chain makes a careless change visible, not a forged one.
//
// Errors: a target that does not exist is [fault.NotFound]; a name or path that is taken, or a key used with other
// arguments, is [fault.Conflict]; too long a text is [fault.InvalidArgument]; a database that cannot be used is
// [fault.Unavailable] or, when it is newer, [fault.Conflict].
package store
