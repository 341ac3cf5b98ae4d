package clientsetup

import (
	"os"
	"path/filepath"
	"strings"
)

// Place is a machine as clients see it: where a person's files and programs are. Nothing is read from the environment of
// this process, so a test has a machine of its own.
type Place struct {
	Home    string   // absolute
	Environ []string // NAME=VALUE, the person's own environment: PATH, CODEX_HOME, CLAUDE_CONFIG_DIR, XDG_CONFIG_HOME, SHELL...
	GOOS    string   // as runtime.GOOS
	Folders []string // folders of projects, in which an entry of a narrower scope may stand over ours
	System  string   // where the machine's own files are looked for; empty: at the root
	Records string   // folder of ours for receipts, made when needed; absolute
}

// env returns the last value of a variable, as a child would see it.
func (p Place) env(name string) string {
	value := ""
	for _, kv := range p.Environ {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			value = v
		}
	}
	return value
}

// find looks a program up in the person's PATH. Relative folders in it are passed over: they would mean ours.
func (p Place) find(program string) string {
	for _, dir := range filepath.SplitList(p.env("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, program)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// config is the folder for configuration: what XDG says, on every system, as the clients that use it do.
func (p Place) config() string {
	if dir := p.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, ".config")
}

// appConfig is the folder in which a desktop program keeps its settings.
func (p Place) appConfig(name string) string {
	switch p.GOOS {
	case "darwin":
		return filepath.Join(p.Home, "Library", "Application Support", name)
	case "windows":
		return filepath.Join(p.env("APPDATA"), name)
	}
	return filepath.Join(p.config(), name)
}

// system is the path of a file of the machine's.
func (p Place) system(path string) string {
	if p.System == "" {
		return path
	}
	return filepath.Join(p.System, path)
}

func (p Place) exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// program finds a client by the names of its program, or by a file that only it has.
func (p Place) program(names, apps []string) string {
	for _, name := range names {
		if path := p.find(name); path != "" {
			return path
		}
	}
	for _, app := range apps {
		if p.GOOS == "darwin" && p.exists(app) {
			return app
		}
	}
	return ""
}
