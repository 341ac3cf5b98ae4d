// Package boottime tells how long the machine has been up, the time that it was suspended included. It is for what must run out
// while the lid is closed, and that setting the clock must not prolong.
//
// It does not say what time it is, and two boots have nothing to do with one another.
package boottime
