//go:build !headless || page

// Package frontend holds the built page of the window inside the program. Where the build stops here because there are
// no matching files, the page was not built yet: `make build` does both, or run `npm ci && npm run build` in this folder.
package frontend

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Page is the built page: index.html and what it loads.
func Page() (fs.FS, error) { return fs.Sub(dist, "dist") }
