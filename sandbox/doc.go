// Package sandbox turns a wish for limits into a caged command and a report of what is enforced.
//
// Compose joins the layers of a task (built-in, agent, repository, project, task, settings) into one canonical Policy:
// links are resolved, duplicates are gone, everything is sorted, so that the order of the layers changes nothing. The
// Policy says what the cage of the system shall be made of (View), and is the only source of a Capability: what a
// terminal that was started from it can do. Within compares two capabilities and decides whether one task may steer
// another.
//
//	policy, err := sandbox.Compose(sandbox.Wish{
//		Mode: sandbox.Enforce, TaskID: id, Project: "p1", Agent: "claude",
//		Layers:   []sandbox.Layer{{Name: "the project's settings", Read: []string{"$HOME/.cache/go"}, Owner: true}},
//		Worktree: wt, GitDir: gitDir, GitCommonDir: commonDir,
//		Home: home, HomeDir: dataDir + "/homes/" + id, DataDir: dataDir,
//		Program: "/usr/bin/claude", Path: path, MCP: true, MCPPort: 7777, ProxyPort: 7778,
//	})
//	if err := policy.Prepare(); err != nil { ... } // makes the empty files that pins need
//	live := policy.Capability()                    // kept with the live terminal
//	if err := sandbox.Within(target, live); err != nil { ... } // a refusal with its reason
//
// It promises to fail closed: a cage that cannot be built is an error with the fix in it, never an uncaged start. A
// comparison that cannot be made exactly is refused, never guessed.
//
// It does not cover who may call what (that is authority, above), nor what an agent does inside the limits.
package sandbox
