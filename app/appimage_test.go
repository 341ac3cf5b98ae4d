package app

import "testing"

// TestOwnPath: others are told of the AppImage that this program is in, and of no other.
func TestOwnPath(t *testing.T) {
	const program, image, dir = "/home/u/.cache/termic-appimage/1/usr/bin/termic", "APPIMAGE=/home/u/Termic.AppImage", "APPDIR=/home/u/.cache/termic-appimage/1"
	for _, c := range []struct {
		program string
		environ []string
		want    string
	}{
		{program, []string{"A=b", image, dir}, "/home/u/Termic.AppImage"},
		{program, []string{dir + "/", image}, "/home/u/Termic.AppImage"},
		{"/usr/bin/termic", []string{image, dir}, "/usr/bin/termic"}, // around it
		{"/home/u/.cache/termic-appimage/12/termic", []string{image, dir}, "/home/u/.cache/termic-appimage/12/termic"},
		{program, []string{dir}, program},
		{program, []string{image}, program},
		{program, []string{"APPIMAGE=Termic.AppImage", dir}, program},
		{program, nil, program},
		{"", []string{image, dir}, ""}, // it does not know where it is
	} {
		if got := ownPath(c.program, c.environ); got != c.want {
			t.Errorf("%s in %v: %s, want %s", c.program, c.environ, got, c.want)
		}
	}
}
