package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"termic/build/appimage/squash"
)

// An appImage is the file that this program is the head of.
type appImage struct {
	*os.File

	path   string // of the file, with links followed
	offset int64  // where the file system begins
	size   int64  // bytes from there to the end of the file
	image  *squash.Image
}

// openSelf opens the file of this program and the file system in it.
func openSelf() (*appImage, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, said("The AppImage cannot find its own file, since /proc is not mounted: %w", err)
	}
	f, err := os.Open("/proc/self/exe") // the very file, also when another has taken its name meanwhile
	if err != nil {
		return nil, said("The AppImage cannot read its own file. Make it readable: chmod u+r %s", path)
	}
	a, err := openImage(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

func openImage(f *os.File, path string) (*appImage, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, said("The AppImage cannot look at its own file: %w", err)
	}
	a := &appImage{File: f, path: path}
	if a.offset, err = programEnd(f); err != nil {
		return nil, a.damage(err)
	}
	if a.size = st.Size() - a.offset; a.size <= 0 {
		return nil, a.damage(errors.New("nothing follows its first part"))
	}
	if a.image, err = squash.Open(io.NewSectionReader(f, a.offset, a.size), a.size); err != nil {
		return nil, a.damage(err)
	}
	return a, nil
}

// damage is what is said of a file that is not what was sealed, and of one that cannot be read to its end.
func (a *appImage) damage(why error) error {
	return said("The file %s is damaged (%w). Nothing of it was run. Fetch it again, and compare it with SHA256SUMS of the release.", a.path, why)
}

// programEnd tells where the program ends and the file system begins: behind the table of sections, which `seal` puts last. The
// places in the head are those of an Elf64_Ehdr, as elf(5) has them.
func programEnd(r io.ReaderAt) (int64, error) {
	var b [64]byte
	if _, err := r.ReadAt(b[:], 0); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	sections, size, count := le.Uint64(b[0x28:]), le.Uint16(b[0x3a:]), le.Uint16(b[0x3c:])
	if string(b[:4]) != "\x7fELF" || b[4] != 2 || b[5] != 1 || sections == 0 || sections > 1<<40 {
		return 0, errors.New("its head is not that of a program")
	}
	return int64(sections) + int64(size)*int64(count), nil
}

// verify compares all that follows this program with the digest that it was linked with.
func (a *appImage) verify() error {
	if len(payload) != hex.EncodedLen(sha256.Size) {
		return said("This program was not sealed: it does not know which file system belongs to it. Make the AppImage with `make package`.")
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(a, a.offset, a.size)); err != nil {
		return a.damage(err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != payload {
		return a.damage(errors.New("it has not the digest that it should have"))
	}
	return nil
}

// entries lists the file system.
func (a *appImage) entries() ([]squash.Entry, error) {
	entries, err := a.image.Entries()
	if err != nil {
		return nil, a.damage(err)
	}
	return entries, nil
}
