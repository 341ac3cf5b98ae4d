package app

import "termic/internal/api"

// The size of a window that was never shown, and the least that any has, in the units of the desktop.
const (
	usualWidth, usualHeight = 1280, 800
	leastWidth, leastHeight = 800, 560
)

// screen is the size of a screen.
type screen struct{ width, height int }

// fitShape makes the shape of a window one that can be shown: never smaller than the least, never bigger than the screen, and
// with all of it on the screen, whatever screens there were when it was seen last. Without a screen only the least is known.
func fitShape(s api.WindowShape, on screen) api.WindowShape {
	if s.Width <= 0 || s.Height <= 0 {
		s.Width, s.Height, s.Placed = usualWidth, usualHeight, false
	}
	if on.width > 0 && on.height > 0 {
		s.Width, s.Height = min(s.Width, on.width), min(s.Height, on.height)
	} else {
		s.Placed = false
	}
	s.Width, s.Height = max(s.Width, leastWidth), max(s.Height, leastHeight)
	if !s.Placed {
		s.X, s.Y = 0, 0
		return s
	}
	s.X, s.Y = max(0, min(s.X, on.width-s.Width)), max(0, min(s.Y, on.height-s.Height))
	return s
}
