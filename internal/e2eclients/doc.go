// Package e2eclients holds tests that run the real Claude Code and the real Codex inside Termic, against a fake model on
// loopback: what they do on a screen, and how they reach the endpoint, cannot be known from a stand-in. Its own code is the table
// of clients in docs/clients.md, which one of the tests writes (`make probe-clients`).
//
// The tests need the build tag clients, and the programs, which `make e2e-clients` downloads once into the cache of the
// user; their versions are pinned in build/e2e-clients.sh. They need no network, no account and no key. They do not
// cover answers of real models, nor other systems than the one they run on.
package e2eclients
