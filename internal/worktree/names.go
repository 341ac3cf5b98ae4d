package worktree

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"termic/internal/fault"
)

// maxSlug bounds a slug, in bytes. File names may have 255; a branch, a number behind it and git's lock files need room.
const maxSlug = 60

// Slug turns a name into the name of a folder, and of the last part of a branch: lower case, letters and digits of every
// script kept as they are spelled, anything else one hyphen. A name without a letter or digit is refused: its slug would
// be empty, and the folder the one above.
func Slug(name string) (string, error) {
	s := slug(name)
	if s == "" {
		return "", fault.New(fault.InvalidArgument, "The name %q has no letter or digit", printable(name, 60)).
			WithHint("Give a name such as \"fix login\".")
	}
	return s, nil
}

func slug(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToValidUTF8(name, "-") {
		mark := unicode.IsMark(r) && b.Len() > 0 && !gap // the accent of a decomposed letter; alone it is nothing
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !mark {
			gap = true
			continue
		}
		r = unicode.ToLower(r)
		need := utf8.RuneLen(r)
		if gap && b.Len() > 0 {
			need++
		}
		if b.Len()+need > maxSlug {
			break
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// BranchFor derives a branch from the name of a task. A name with slashes is kept as a path of slugs (fix/Login form
// becomes fix/login-form); any other goes under prefix, which may be empty. It returns "" when Slug would refuse the name.
// The result is a valid branch name.
func BranchFor(prefix, name string) string {
	parts := slugs(name)
	if len(parts) == 1 {
		parts = append(slugs(prefix), parts...)
	}
	if len(parts) == 0 || slug(name) == "" {
		return ""
	}
	if b := strings.Join(parts, "/"); b != "head" {
		return b
	}
	return "head-1" // on a file system without case it would be HEAD
}

func slugs(s string) []string {
	var out []string
	for _, part := range strings.Split(s, "/") {
		if p := slug(part); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// CheckBranch refuses a name that git would not take as a branch, with the reason in words. It does not ask whether there is one of that name.
func CheckBranch(name string) error { return checkBranch(name) }

// checkBranch refuses what git would not take as a branch, with the reason in words. It is git's rule for reference
// names, written out so that a bad name costs no process and is never handed to git.
func checkBranch(name string) error {
	bad := func(why string) error {
		return fault.New(fault.InvalidArgument, "%q cannot be a branch name: it %s", printable(name, 80), why).
			WithHint("Use letters, digits, hyphens and slashes, such as fix/login.")
	}
	switch {
	case name == "":
		return bad("is empty")
	case strings.HasPrefix(name, "-"):
		return bad("begins with a hyphen, which programs take for an option")
	case strings.EqualFold(name, "HEAD"):
		return bad("means the current commit")
	case name == "@" || strings.Contains(name, "@{"):
		return bad("has a meaning of its own for git")
	case strings.Contains(name, ".."):
		return bad("holds two dots in a row")
	case strings.HasSuffix(name, "."):
		return bad("ends with a dot")
	case len(name) > 200:
		return bad("is longer than 200 bytes")
	}
	for _, r := range name {
		if r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) {
			return bad("holds a space, a control character or one of ~^:?*[\\")
		}
	}
	for _, part := range strings.Split(name, "/") {
		switch {
		case part == "":
			return bad("has an empty part between slashes")
		case strings.HasPrefix(part, "."):
			return bad("has a part that begins with a dot")
		case strings.HasSuffix(part, ".lock"):
			return bad("has a part that ends with .lock")
		}
	}
	return nil
}

// unkeepable reports whether git takes a file of this name into no index, since on some file system one of its parts is
// another spelling of git's own folder: in any case, with dots and blanks behind it, with a stream, or by its short name.
func unkeepable(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		name, _, _ := strings.Cut(strings.ToLower(part), ":")
		switch strings.TrimRight(name, ". ") {
		case ".git", "git~1":
			return true
		}
	}
	return false
}

// keepable is the name by which a backup keeps a file: its own, with words behind each part that git would not take.
func keepable(path string) string {
	if !unkeepable(path) {
		return path
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if unkeepable(part) {
			parts[i] = strings.ReplaceAll(strings.TrimRight(part, ". "), ":", "_") + ".kept-under-another-name"
		}
	}
	return strings.Join(parts, "/")
}
