//go:build !testbridge

package app

import "io"

// openBridge does nothing: the test bridge is in test builds only.
func (a *App) openBridge(Options, io.Writer) (end func() error, err error) {
	return func() error { return nil }, nil
}
