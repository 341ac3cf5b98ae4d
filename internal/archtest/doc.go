// Package archtest holds the walls of the house: tests that fail when the code leaves the shape that
// docs/architecture.md describes.
//
// It promises that each import between two packages of this module is one that the layers allow, or has
// a reason to be refused; that a third-party library is imported only by the packages named for it; and
// that files, functions, names, documents and the tree as a whole keep the rules of CONTRIBUTING.md.
//
// It reads sources only, for every operating system and build tag at once, and builds nothing. It does
// not judge behaviour: what a package does is for its own tests.
package archtest
