// Package cage runs a program in a root that is built for it: what was not granted does not exist there.
//
// On Linux a cage is a set of new namespaces (user, mount, pid, ipc, uts and, when asked for, net) with a first process
// of ours that builds the root, takes away every capability, locks itself and all that follow behind Landlock and
// seccomp, and then starts the program. The app keeps one socket to that process: requests go through it, and its end
// ends everything in the cage at once, however deep it hides.
//
// It promises that Start either gives a cage in which every required wall stands, or an error with the cause and the
// fix; never something weaker. Enforcement says which walls stand and which limits hold. It promises also that nothing
// of a cage outlives the app, that descriptors of the app do not reach the program, and that arguments and environment
// of the program are never visible outside.
//
// It does not decide what is granted (package sandbox does), and it does not filter hosts: with Net set the cage has no
// road outside but the listeners that the caller accepts on. It does not hide the contents of a granted folder from a
// hard link that was there before. A file that is read-only by Pins and that somebody outside replaces by renaming
// another over it becomes writable, since the kernel drops the mount with the old file; Covers do not have this gap.
// Other systems than Linux have no cage here: Start refuses with a sentence.
package cage
