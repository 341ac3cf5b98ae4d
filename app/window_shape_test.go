package app

import (
	"testing"

	"pgregory.net/rapid"

	"termic/internal/api"
)

func TestFitShape(t *testing.T) {
	full := screen{1920, 1080}
	for _, c := range []struct {
		name       string
		have, want api.WindowShape
		on         screen
	}{
		{"never shown", api.WindowShape{}, api.WindowShape{Width: 1280, Height: 800}, full},
		{"as it was", api.WindowShape{Width: 1000, Height: 700, X: 100, Y: 50, Placed: true}, api.WindowShape{Width: 1000, Height: 700, X: 100, Y: 50, Placed: true}, full},
		{"on a screen that is gone", api.WindowShape{Width: 1000, Height: 700, X: 3000, Y: -900, Placed: true}, api.WindowShape{Width: 1000, Height: 700, X: 920, Placed: true}, full},
		{"bigger than the screen", api.WindowShape{Width: 3000, Height: 2000, X: 10, Y: 10, Placed: true, Maximised: true}, api.WindowShape{Width: 1920, Height: 1080, Placed: true, Maximised: true}, full},
		{"too small", api.WindowShape{Width: 10, Height: 10}, api.WindowShape{Width: 800, Height: 560}, full},
		{"nothing is known of the screen", api.WindowShape{Width: 1000, Height: 700, X: 5, Y: 5, Placed: true}, api.WindowShape{Width: 1000, Height: 700}, screen{}},
	} {
		if got := fitShape(c.have, c.on); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestShapesAreNeverOffScreen: whatever was stored, the whole window is on a screen that has room for the least one.
func TestShapesAreNeverOffScreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.IntRange(-5000, 10000)
		s := api.WindowShape{Width: any.Draw(t, "width"), Height: any.Draw(t, "height"), X: any.Draw(t, "x"), Y: any.Draw(t, "y"), Placed: rapid.Bool().Draw(t, "placed")}
		on := screen{rapid.IntRange(leastWidth, 8000).Draw(t, "screen width"), rapid.IntRange(leastHeight, 8000).Draw(t, "screen height")}
		got := fitShape(s, on)
		if got.X < 0 || got.Y < 0 || got.X+got.Width > on.width || got.Y+got.Height > on.height || got.Width < leastWidth || got.Height < leastHeight {
			t.Fatalf("%+v on %+v became %+v", s, on, got)
		}
	})
}
