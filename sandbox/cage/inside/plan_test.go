package inside

import (
	"reflect"
	"slices"
	"testing"

	"termic/sandbox/cage/wire"
)

const mountinfo = `21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 21 0:5 / /proc rw - proc proc rw
30 21 254:1 / /home rw - ext4 /dev/vdb rw
31 21 254:1 /u /mnt/alias rw - ext4 /dev/vdb rw
32 21 254:1 /u/.local/share/app/deep /mnt/part/in rw - ext4 /dev/vdb rw
33 21 254:9 / /mnt/a\040b rw - ext4 /dev/vdc rw
34 30 254:7 / /home/u/disk rw - ext4 /dev/vdd rw
`

func TestSpots(t *testing.T) {
	const app = "/home/u/.local/share/app"
	mounts := parseMounts(mountinfo)
	if m := mounts[5]; m.point != "/mnt/a b" {
		t.Errorf("%+v", m)
	}
	for _, tt := range []struct {
		name   string
		grants []wire.Mount
		covers []string
		pins   []string
		want   []string // path, with ! for one that must be there and ~ for one that need not be the same thing
	}{
		{"not granted", []wire.Mount{{Source: "/usr", Target: "/usr"}}, []string{app}, nil, nil},
		{"in a grant", []wire.Mount{{Source: "/home/u", Target: "/home/u"}}, []string{app}, nil, []string{"!" + app}},
		{"in a grant of the file system's parent", []wire.Mount{{Source: "/home", Target: "/h"}}, []string{app}, nil, []string{"!/h/u/.local/share/app"}},
		{"under another name", []wire.Mount{{Source: "/home/u", Target: "/x"}}, []string{app}, nil, []string{"!/x/.local/share/app"}},
		{"through an alias", []wire.Mount{{Source: "/mnt/alias", Target: "/mnt/alias"}}, []string{app}, nil, []string{"/mnt/alias/.local/share/app"}},
		{"below an alias", []wire.Mount{{Source: "/mnt", Target: "/m"}}, []string{app}, nil, []string{"/m/alias/.local/share/app", "~/m/part/in"}},
		{"a grant inside it", []wire.Mount{{Source: app + "/homes/t", Target: "/home/t"}}, []string{app}, nil, nil},
		{"a part of it by an alias of its own", []wire.Mount{{Source: "/mnt/part/in", Target: "/p"}}, []string{app}, nil, nil},
		{"under a deeper grant", []wire.Mount{{Source: "/home/u", Target: "/home/u"}, {Source: "/usr", Target: "/home/u/.local"}}, []string{app}, nil, nil},
		{"on another disk", []wire.Mount{{Source: "/home/u", Target: "/home/u"}}, []string{"/home/u/disk/x"}, nil, []string{"!/home/u/disk/x"}},
		{"cover and pin at once", []wire.Mount{{Source: "/home/u", Target: "/home/u"}}, []string{app}, []string{app}, []string{"!" + app}},
		{"the whole grant, pinned", []wire.Mount{{Source: "/home/u", Target: "/home/u"}}, nil, []string{"/home/u"}, []string{"!/home/u"}},
	} {
		got, err := findSpots(&wire.Setup{Mounts: tt.grants, Covers: tt.covers, Pins: tt.pins}, mounts)
		var paths []string
		for _, p := range got {
			mark := ""
			if p.must {
				mark = "!"
			}
			if !p.exact {
				mark += "~"
			}
			paths = append(paths, mark+p.path)
		}
		if err != nil || !reflect.DeepEqual(paths, tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.name, paths, err, tt.want)
		}
	}
	if _, err := findSpots(&wire.Setup{Mounts: []wire.Mount{{Source: "/home/u", Target: "/home/u"}}, Covers: []string{"/home/u"}}, mounts); err == nil {
		t.Error("granted and hidden at once")
	}
}

func TestOrder(t *testing.T) {
	paths := []string{"/a-b", "/a/b", "/a", "/a/b/c", "/a b", "/"}
	slices.SortFunc(paths, comparePaths)
	if want := []string{"/", "/a", "/a/b", "/a/b/c", "/a b", "/a-b"}; !reflect.DeepEqual(paths, want) {
		t.Errorf("%q", paths)
	}
}

func TestClean(t *testing.T) {
	for path, want := range map[string]bool{"/": true, "/a/b": true, "": false, "a": false, "/a/": false, "//a": false, "/a/../b": false, "/./a": false, "/a\x00": false, "/..a": true} {
		if clean(path) != want {
			t.Errorf("clean(%q) = %v", path, !want)
		}
	}
}
