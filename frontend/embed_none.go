//go:build headless && !page

// Package frontend holds the built page inside the program, except in builds like this one.
package frontend

import "io/fs"

// Page is nothing: this build was made without the page.
func Page() (fs.FS, error) { return nil, nil }
