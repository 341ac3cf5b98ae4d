// Package release asks one address whether there is a newer release, and believes only what the key of the project has signed.
//
// What is asked is a feed: a small JSON file that names the newest release, beside its signature in a file of the same name with
// ".sig" behind it, as `ssh-keygen -Y sign` writes it. Get promises that nothing but two requests without a body, a cookie or a
// version goes out, to that address alone: no redirect is followed. It bounds what is read and how long that may take, and looks at
// the signature before it looks into the feed. Read refuses a feed that is older than one that was seen, or past its time.
//
// It does not cover when to ask, nor what to do about an answer; nothing here replaces a program. Whoever can keep the feed from
// arriving can hide a release until the feed that was seen is past its time.
package release
