package attack

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// read returns the beginning of a file.
func read(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", path, err)
	}
	return readFD(fd)
}

// readFD returns the beginning of what a descriptor gives, and closes it.
func readFD(fd int) (string, error) {
	f := os.NewFile(uintptr(fd), "probe")
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGot))
	return string(data), err
}

// openOnly opens a path with flags and tells that it could.
func openOnly(path string, flags int) (string, error) {
	fd, err := unix.Open(path, flags|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", path, err)
	}
	_ = unix.Close(fd)
	return did("opened %s", path), nil
}

// openAny opens the first of the paths that it can.
func openAny(flags int, paths ...string) probe {
	return func(*Ground, string) (string, error) {
		tries := make([]func() (string, error), len(paths))
		for i, path := range paths {
			tries[i] = func() (string, error) { return openOnly(path, flags) }
		}
		return first(tries...)
	}
}

// list tells whether a folder lists a name.
func list(dir, want string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.Name() == want {
			return did("saw %s", want), nil
		}
	}
	return "", fmt.Errorf("%s is not among %d names in %s", want, len(entries), dir)
}

// anyEntry tells whether a folder lists anything.
func anyEntry(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return "", errors.Join(err, fmt.Errorf("%s: %d names", dir, len(entries)))
	}
	return did("saw %d names in %s", len(entries), dir), nil
}

// write plants a recognisable text at a path, making the folders on the way.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o700)
}

// planted is the text of all planted files.
const planted = "planted\n"

// output runs a program and returns what it wrote.
func output(argv ...string) (string, error) {
	data, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", argv[0], err, data[:min(len(data), 200)])
	}
	return string(data), nil
}

// anyProcess asks about every process in sight and returns the joined evidence.
func anyProcess(ask func(pid int) (string, error)) (string, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return "", err
	}
	var all strings.Builder
	var errs []error
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || pid == os.Getppid() {
			continue
		}
		got, err := ask(pid)
		if err != nil {
			errs = append(errs, err)
		}
		all.WriteString(got)
	}
	if all.Len() > 0 {
		return all.String(), nil
	}
	return "", errors.Join(errs[:min(len(errs), 3)]...)
}

// anyFD asks about every descriptor above the terminal's and returns the joined evidence.
func anyFD(ask func(fd int) (string, error)) (string, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return "", err
	}
	var all strings.Builder
	err = errNot
	for _, e := range entries {
		fd, errNum := strconv.Atoi(e.Name())
		if errNum != nil || fd < 3 {
			continue
		}
		var got string
		if got, err = ask(fd); err == nil {
			all.WriteString(got)
		}
	}
	return all.String(), err
}

// aliased is the name of a path of the home under its second mount.
func (g *Ground) aliased(path string) string {
	rel, err := filepath.Rel(g.Home, path)
	if err != nil || g.Alias == "" {
		return "/no-alias"
	}
	return filepath.Join(g.Alias, rel)
}

func unhex(s string) ([]byte, error) { return hex.DecodeString(s) }

// foreign refuses a number that in this process namespace belongs to a process of ours.
func (g *Ground) foreign(pid int) error {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err == nil && pid != g.PidOne && !strings.Contains(string(data), VictimTag) {
		return fmt.Errorf("process %d is one of this cage", pid)
	}
	return nil
}

// VictimTag is among the arguments of processes outside that probes may touch.
const VictimTag = "termic-attack-victim"
