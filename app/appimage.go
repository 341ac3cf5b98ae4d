package app

import (
	"path/filepath"
	"strings"
)

// ownPath is the file that others are told to run, such as clients that ask for a token. It is this program, but in an AppImage: its
// program lies in a folder that goes with the next version, so that others are told of the AppImage, which stays where the user put it. The
// variables of an AppImage may be those of another one, around this program: they count only where this program lies in its folder.
func ownPath(program string, environ []string) string {
	var image, dir string
	for _, e := range environ {
		switch name, value, _ := strings.Cut(e, "="); name {
		case "APPIMAGE":
			image = value
		case "APPDIR":
			dir = value
		}
	}
	if filepath.IsAbs(image) && filepath.IsAbs(dir) && strings.HasPrefix(program, filepath.Clean(dir)+"/") {
		return filepath.Clean(image)
	}
	return program
}
