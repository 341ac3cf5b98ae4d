package shellenv

import (
	"path/filepath"
	"strings"

	"termic/internal/fault"
)

// LookPath finds a program in the PATH of env, or, if its name holds a slash, relative to dir, and returns an absolute
// path. Entries of PATH that are not absolute are skipped: dir may belong to an agent. The error is a fault, NotFound.
func LookPath(program, dir string, env []string) (string, error) {
	if strings.ContainsRune(program, '/') {
		path := program
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if executable(path) {
			return path, nil
		}
		return "", fault.New(fault.NotFound, "The program %s was not found", program)
	}
	path := toMap(env)["PATH"]
	for _, d := range filepath.SplitList(path) {
		if candidate := filepath.Join(d, program); program != "" && filepath.IsAbs(d) && executable(candidate) {
			return candidate, nil
		}
	}
	return "", fault.New(fault.NotFound, "The program %s was not found", program).
		WithHint("It is looked for in PATH, which is %s", path)
}
