//go:build !headless

package app

import (
	"log/slog"
	"os"
)

// windowLog leads the log of the window's toolkit to the app's own.
type windowLog struct{ log *slog.Logger }

func (l windowLog) Print(message string)   { l.log.Debug(message, "from", "window") }
func (l windowLog) Trace(message string)   { l.log.Debug(message, "from", "window") }
func (l windowLog) Debug(message string)   { l.log.Debug(message, "from", "window") }
func (l windowLog) Info(message string)    { l.log.Debug(message, "from", "window") }
func (l windowLog) Warning(message string) { l.log.Warn(message, "from", "window") }
func (l windowLog) Error(message string)   { l.log.Error(message, "from", "window") }

// Fatal ends the program, as the toolkit expects.
func (l windowLog) Fatal(message string) {
	l.log.Error(message, "from", "window")
	os.Exit(1)
}
