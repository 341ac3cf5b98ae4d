//go:build race

package store

// raceDetector slows children down tenfold, and finds races between goroutines, of which a killed child tells nothing.
const raceDetector = true
