// Package e2e holds tests that run the whole app in process: a real profile, real repositories, real terminals and the
// fake agent in each of its manners. It has no code of its own.
package e2e
