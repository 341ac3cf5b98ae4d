//go:build e2e && linux && !headless

package app

// With the tag e2e the web view is made by window_e2e.c, so that a WebDriver can take it over. The tag is in no build
// that is released.

// #cgo pkg-config: gtk+-3.0 webkit2gtk-4.1
import "C"
