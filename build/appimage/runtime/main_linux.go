// Command runtime is the program at the head of an AppImage of Termic: it unpacks the file system behind itself into a folder of the
// user's, once for each content, and becomes the AppRun that is in it. `seal` puts the two together.
//
// It keeps the interface that the AppImage specification gives to images of type 2: the options that begin with --appimage-, and
// APPIMAGE, APPDIR, ARGV0 and OWD in the environment. It does not mount: see docs/decisions/0061.
//
// It promises that nothing runs that is not what was sealed: the digest of the file system is part of this program, and the folder is
// taken only where nobody else can write. It does not hold against the user's own programs, which can change files of the user's.
//
// It is linked without cgo and with the standard library alone, so that it starts wherever the kernel does.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Set when it is linked. A runtime without a digest starts nothing.
var (
	version = "unknown"
	payload string // SHA-256 of the file system, in hexadecimal digits
)

const usage = `Options of an AppImage; all else is for Termic itself (try "help"):

  --appimage-extract [PATTERN]   unpack it, or what the pattern names, into the folder squashfs-root here
  --appimage-extract-and-run     run it without a mount, which it does anyway
  --appimage-mount               mount it, say where, and keep it so until this program ends (needs squashfuse)
  --appimage-offset              say at which byte the file system begins
  --appimage-signature           say the digital signature in it: none, the release is signed as a whole
  --appimage-updateinformation   say where newer ones are: nowhere, see "termic help update"
  --appimage-version             say the version
  --appimage-help                say this

It is unpacked into termic-appimage in $XDG_CACHE_HOME, or in ~/.cache. What older versions left there goes when a new one is unpacked.
`

func main() {
	if err := run(os.Args, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "termic: "+err.Error())
		os.Exit(1)
	}
}

// said is an error in words for the user: what is wrong, and what to do.
func said(format string, args ...any) error { return fmt.Errorf(format, args...) }

// run answers an option of AppImages, or becomes the program that is in the image.
func run(args []string, out io.Writer) error {
	option := ""
	if len(args) > 1 && strings.HasPrefix(args[1], "--appimage-") {
		option = args[1]
	}
	switch option {
	case "--appimage-help":
		_, err := io.WriteString(out, usage)
		return err
	case "--appimage-version":
		_, err := fmt.Fprintln(out, "Version: "+version)
		return err
	case "--appimage-signature", "--appimage-updateinformation", "--appimage-updateinfo":
		return nil
	}
	file, err := openSelf()
	if err != nil {
		return err
	}
	defer file.Close()
	switch option {
	case "":
		return start(file, args[0], args[1:])
	case "--appimage-extract-and-run":
		return start(file, args[0], args[2:])
	case "--appimage-offset":
		_, err := fmt.Fprintln(out, file.offset)
		return err
	case "--appimage-mount":
		return mount(file, out)
	case "--appimage-extract":
		pattern := ""
		if len(args) > 2 {
			pattern = args[2]
		}
		return extract(file, pattern, out)
	}
	return said("There is no option %s. --appimage-help says which there are.", option)
}

// start unpacks what is not unpacked yet, and becomes AppRun. It returns only what went wrong.
func start(file *appImage, name string, args []string) error {
	base, err := cacheFolder(os.Getenv, os.Geteuid())
	if err != nil {
		return err
	}
	dir, err := file.unpacked(base)
	if err != nil {
		return err
	}
	return become(dir, file.path, name, args)
}

// extract unpacks into the folder that the specification names, in the current one, and says what.
func extract(file *appImage, pattern string, out io.Writer) error {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return said("The pattern %q is none: a [ in it is not closed.", pattern)
	}
	if err := file.verify(); err != nil {
		return err
	}
	const dir = "squashfs-root"
	if err := os.Mkdir(dir, 0o755); errors.Is(err, os.ErrExist) {
		return said("There is a %s in this folder already. Move it away, or unpack in another folder.", dir)
	} else if err != nil {
		return said("The folder %s cannot be made here: %w", dir, err)
	}
	return file.write(dir, func(path string) bool {
		if !matches(pattern, path) {
			return false
		}
		_, _ = fmt.Fprintln(out, filepath.Join(dir, path))
		return true
	})
}

// matches tells whether a pattern of the shell names a path, or a folder that it is in. An empty one names all.
func matches(pattern, path string) bool {
	pattern = strings.Trim(strings.TrimPrefix(pattern, "./"), "/")
	if pattern == "" || path == "." {
		return true
	}
	for ; path != "."; path = filepath.Dir(path) {
		if ok, _ := filepath.Match(pattern, path); ok {
			return true
		}
	}
	return false
}
