// Package worktree does everything that Termic needs of git, by running the user's own git: creating, listing,
// comparing, applying, removing and restoring the worktrees of a repository, and staging, discarding and committing in
// them. It knows nothing of tasks.
//
// # Promises
//
// Nothing is lost. No path, branch or file that existed before is overwritten or deleted, except by Remove of the one
// worktree it is given; and Remove refuses as long as there is work that exists nowhere else, or, with consent, leaves a
// backup ref first. A failure is an error with a sentence for the user, never a zero value.
//
// What is lost when a worktree goes is judged by what exists on this machine and nowhere else: files, commits that no
// remote, tag or other branch has, stashes, an operation in progress. Ignored files count unless the main checkout has
// the same ones; they are listed with their sizes, and are not part of a backup, since they are secrets or rebuilt.
//
// What Discard takes from a worktree is kept first, and Undo gives back every byte of it, or refuses and changes nothing.
// A file that changes while it is discarded is not: it is looked at again right before it goes, by the kernel's own time
// of its last change. Staging, discarding and committing change the index under git's own lock, in one step.
//
// What a worktree has done is judged against the merge base of its base and its HEAD, so that what the base got
// meanwhile never shows as the worktree's doing; Diff and Apply agree on it.
//
// Programs are run with an argument list, never through a shell; paths follow "--" and revisions "--end-of-options".
// Names that git prints are read from its NUL-separated forms, and are kept as the bytes that git gives: two spellings
// of "é" are two names.
//
// # Trees that an agent could have written
//
// An agent may write its whole worktree, its `.git` file included. Therefore git is never told to find out by itself
// where it is: GIT_DIR, GIT_COMMON_DIR and GIT_WORK_TREE are always given, taken from the repository's own list of
// worktrees. Hooks, fsmonitor, external diff, textconv, gc and signing are off. Filters and merge drivers are off as
// well, and submodules are not entered, because each of them runs programs that the tree or its configuration names.
//
// There are two exceptions. Create runs the filters and, after the checkout, the post-checkout hook, since that is what
// sets a tree up (LFS, husky); CreateOptions.Guarded switches both off, for a start from a commit that a cage could have
// written. And a Repo made by Plain keeps filters, merge drivers and submodules for trees whose agent is not caged: it
// can run programs anyway, and with them an LFS or git-crypt repository behaves as in the user's shell.
//
// # The environment
//
// Children get the environment given in Options, without the caller's GIT_ variables (those that say where the user's
// configuration is, and how ssh is run, are kept), with LC_ALL=C, no terminal, no pager, no editor and no prompts.
// Every run is bounded in time and output.
//
// # Not covered
//
// Merging, amending and pushing. A program that writes a file through a handle that it opened before is not noticed by
// Discard. Files of ignored paths, of submodules and of repositories nested in a worktree are
// listed by Losses but not kept by a backup. Empty folders, times and permissions beyond the executable bit are not
// restored. Git's own checks of who owns a repository are made by Open only.
package worktree
