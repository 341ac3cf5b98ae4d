package worktree

import (
	"errors"
	"strconv"
	"strings"

	"termic/internal/api"
)

// parseDiff reads the output of `git diff --raw --numstat -z`: all raw records, then all numbers.
func parseDiff(out string) ([]api.FileChange, error) {
	recs := splitNUL(out)
	i := 0
	next := func() (string, bool) {
		if i >= len(recs) {
			return "", false
		}
		i++
		return recs[i-1], true
	}
	var files []api.FileChange
	at := map[string]int{}
	for i < len(recs) && strings.HasPrefix(recs[i], ":") {
		head, _ := next()
		f, err := parseRaw(head, next)
		if err != nil {
			return nil, err
		}
		if j, ok := at[f.Path]; ok { // an unmerged file comes twice
			if f.Status == "unmerged" {
				files[j].Status = f.Status
			}
			continue
		}
		at[f.Path] = len(files)
		files = append(files, f)
	}
	for i < len(recs) {
		rec, _ := next()
		path, added, removed, err := parseNumbers(rec, next)
		if err != nil {
			return nil, err
		}
		j, ok := at[path]
		if !ok {
			return nil, errors.New("diff: numbers of a file that was not listed")
		}
		if err := count(&files[j], added, removed); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// parseNumbers reads one record of numbers: "added TAB removed TAB name". The name is empty for a rename, whose two names
// follow.
func parseNumbers(rec string, next func() (string, bool)) (path, added, removed string, err error) {
	n := strings.SplitN(rec, "\t", 3)
	if len(n) != 3 {
		return "", "", "", errors.New("diff: unknown numbers " + strconv.Quote(printable(rec, 80)))
	}
	if path = n[2]; path == "" {
		_, ok1 := next()
		to, ok2 := next()
		if !ok1 || !ok2 {
			return "", "", "", errors.New("diff: numbers of a rename without its names")
		}
		path = to
	}
	return path, n[0], n[1], nil
}

// count takes the two numbers of a file; a binary file has hyphens.
func count(f *api.FileChange, added, removed string) error {
	if added == "-" && removed == "-" {
		f.Binary = true
		return nil
	}
	a, err1 := strconv.Atoi(added)
	b, err2 := strconv.Atoi(removed)
	if err1 != nil || err2 != nil {
		return errors.New("diff: bad number of lines")
	}
	f.Insertions, f.Deletions = max(f.Insertions, a), max(f.Deletions, b)
	return nil
}

// parseRaw reads one raw record: ":mode mode id id S[score]", then one name, or two for a rename or copy.
func parseRaw(head string, next func() (string, bool)) (api.FileChange, error) {
	f := strings.Fields(head)
	if len(f) != 5 || f[4] == "" {
		return api.FileChange{}, errors.New("diff: unknown record " + strconv.Quote(printable(head, 80)))
	}
	letter := f[4][0]
	name, ok := statusNames[letter]
	path, okPath := next()
	if !ok || !okPath || path == "" {
		return api.FileChange{}, errors.New("diff: unknown record " + strconv.Quote(printable(head, 80)))
	}
	c := api.FileChange{Path: path, Status: name}
	if letter == 'R' || letter == 'C' {
		to, ok := next()
		if !ok || to == "" {
			return api.FileChange{}, errors.New("diff: rename without its new name")
		}
		c.OldPath, c.Path = path, to
	}
	return c, nil
}

// statusNames are the words of api.FileChange.Status for git's letters.
var statusNames = map[byte]string{'A': "added", 'M': "modified", 'D': "deleted", 'R': "renamed", 'C': "copied", 'T': "typechange", 'U': "unmerged"}
