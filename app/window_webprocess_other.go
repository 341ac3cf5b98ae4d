//go:build !linux && !headless

package app

import "log/slog"

// watchWebProcess does nothing here: the toolkits of other systems load the page anew by themselves.
func watchWebProcess(*slog.Logger) {}
