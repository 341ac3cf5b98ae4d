package release

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// versionForm is the form of a version as semver.org has it; a "v" before it is let pass.
var versionForm = regexp.MustCompile(`^v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$`)

// behindTag is what git puts behind a tag for a commit that comes after it: 3-g1a2b3c4, with -dirty for changes beyond that.
var behindTag = regexp.MustCompile(`(?:-\d+-g[0-9a-f]{4,40})?(?:-dirty)?$`)

// maxVersion is the longest text that is taken for a version, in bytes.
const maxVersion = 100

// A Version orders releases. Its zero value is not useful.
type Version struct {
	numbers [3]int
	pre     []string // the parts of what follows a "-"; none for a release
}

// ParseVersion reads a version such as 1.2.3 or 1.2.3-rc.1. A build of a commit after a tag counts as what the tag names: it has all that
// the release has. ok is false for what is none, such as "dev".
func ParseVersion(text string) (v Version, ok bool) {
	if len(text) > maxVersion {
		return Version{}, false
	}
	base, build, _ := strings.Cut(text, "+")
	if build == "" {
		base = behindTag.ReplaceAllString(base, "")
	}
	m := versionForm.FindStringSubmatch(base)
	if m == nil {
		return Version{}, false
	}
	for i := range v.numbers {
		v.numbers[i], _ = strconv.Atoi(m[i+1]) // at most nine digits
	}
	if m[4] != "" {
		v.pre = strings.Split(m[4], ".")
	}
	return v, true
}

// Compare is negative where v comes before o, and 0 where neither does. What comes before a release, such as 1.2.0-rc.1, is older than
// it; its parts are compared one by one, numbers as numbers.
func (v Version) Compare(o Version) int {
	for i := range v.numbers {
		if n := cmp.Compare(v.numbers[i], o.numbers[i]); n != 0 {
			return n
		}
	}
	switch {
	case len(v.pre) == 0 || len(o.pre) == 0:
		return cmp.Compare(len(o.pre), len(v.pre))
	}
	for i := range min(len(v.pre), len(o.pre)) {
		if n := comparePart(v.pre[i], o.pre[i]); n != 0 {
			return n
		}
	}
	return cmp.Compare(len(v.pre), len(o.pre))
}

// comparePart compares parts of what follows a "-": numbers come before words.
func comparePart(a, b string) int {
	x, errA := strconv.ParseUint(a, 10, 64)
	y, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(x, y)
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return strings.Compare(a, b)
}
