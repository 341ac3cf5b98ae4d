package agenthome

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// plantedError says that a file of a home is not what an agent leaves there.
type plantedError struct{ rel, why string }

func (e *plantedError) Error() string { return fmt.Sprintf("%s: %s", e.rel, e.why) }

// readSource reads a plain file of the user's own; links are followed, as their owner wants it.
func readSource(path string, max int64) ([]byte, error) {
	f, err := openSource(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > max {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, max)
	}
	return data, nil
}

// source reads a file of the user's and notes when it cannot be used. nil = there is none to use.
func (s *seeding) source(path string, max int64) []byte {
	data, err := readSource(path, max)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.left("%s could not be read: %v.", path, err)
		}
		return nil
	}
	return data
}

// sourceObject reads a JSON object of the user's. It is nil when there is none.
func (s *seeding) sourceObject(path string) object {
	data := s.source(path, maxConfig)
	if data == nil {
		return nil
	}
	obj, err := parseObject(data)
	if err != nil {
		s.left("%s is not understood, so nothing of it is used.", path)
	}
	return obj
}

// copyFile copies one file of the user's into the home, under rel.
func (s *seeding) copyFile(from, rel string) error {
	data := s.source(from, maxMemory)
	if data == nil {
		return nil
	}
	return s.write(rel, data, false)
}

// budget is what may still be copied of one folder.
type budget struct {
	files int
	bytes int64
}

// copyFolder copies the files of a folder of the user's into the home, under rel. Links are followed; folders of
// version control and of dependencies are left out.
func (s *seeding) copyFolder(from, rel string) error {
	return s.copyInto(from, rel, 0, &budget{files: maxFiles, bytes: maxFolder})
}

func (s *seeding) copyInto(from, rel string, depth int, left *budget) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.left("%s could not be read: %v.", from, err)
		}
		return nil
	}
	for _, e := range entries {
		p, to := filepath.Join(from, e.Name()), path.Join(rel, e.Name())
		st, err := os.Stat(p)
		if err != nil {
			continue // a link to nothing
		}
		switch {
		case st.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules"):
		case st.IsDir() && depth >= maxDepth:
			s.left("%s is too deep, so it is not copied.", p)
		case st.IsDir():
			if err := s.copyInto(p, to, depth+1, left); err != nil {
				return err
			}
		case st.Mode().IsRegular():
			left.files, left.bytes = left.files-1, left.bytes-st.Size()
			if left.files < 0 || left.bytes < 0 {
				s.left("%s has more than is copied into a private home; %s is missing.", from, e.Name())
				return nil
			}
			data := s.source(p, maxMemory)
			if data == nil {
				continue
			}
			if err := s.write(to, data, st.Mode()&0o100 != 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// object is a JSON object whose values are kept as they were written.
type object map[string]json.RawMessage

// parseObject reads a whole JSON document that is an object.
func parseObject(data []byte) (object, error) {
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errors.New("it is null")
	}
	return o, nil
}

// homeObject reads a JSON object of the home; a missing or unusable one is empty.
func (s *seeding) homeObject(rel string) object {
	if data, err := s.tree.read(rel, maxConfig); err == nil {
		if o, err := parseObject(data); err == nil {
			return o
		}
	}
	return object{}
}

// set puts a value of ours into an object.
func (o object) set(key string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("a value of ours is no JSON: " + err.Error())
	}
	o[key] = raw
}

// mustObject writes an object as JSON; its values were read from JSON or made by us.
func mustObject(o object) json.RawMessage {
	raw, err := json.Marshal(o)
	if err != nil {
		panic("an object has a value that is no JSON: " + err.Error())
	}
	return raw
}

// child reads a member that is an object; otherwise it is empty.
func (o object) child(key string) object {
	if c, err := parseObject(o[key]); err == nil {
		return c
	}
	return object{}
}

// text reads a member that is a string.
func (o object) text(key string) (string, bool) {
	var s *string
	if json.Unmarshal(o[key], &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// pick copies members by name, if their values are plain (a string, number or boolean).
func (o object) pick(from object, keys ...string) {
	for _, k := range keys {
		if isPlain(from[k]) {
			o[k] = from[k]
		}
	}
}

// pickMissing is pick for members that are not there yet.
func (o object) pickMissing(from object, keys ...string) {
	for _, k := range keys {
		if _, have := o[k]; !have && isPlain(from[k]) {
			o[k] = from[k]
		}
	}
}

// isPlain reports whether a value is a string, a number or a boolean.
func isPlain(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	switch v.(type) {
	case string, float64, bool:
		return true
	}
	return false
}

// writeObject puts a JSON object into the home. A file that means the same already is left alone: the agent that wrote it
// may be running, and about to write it again.
func (s *seeding) writeObject(rel string, o object) error {
	if old, err := s.tree.read(rel, maxConfig); err == nil && sameJSON(old, mustObject(o)) {
		return nil
	}
	data, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	return s.write(rel, append(data, '\n'), false)
}
