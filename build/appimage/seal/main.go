// Command seal makes an AppImage of type 2 of the two parts that it is made of: a program that has `runtime` in it, and a file system
// of squashfs behind that. The same parts give the same bytes.
//
//	seal -runtime PROGRAM -image SQUASHFS -out FILE
//
// It moves the program's table of sections to the end of the program, since readers of AppImages take the end of that table for the place where
// the file system begins, and linkers put it elsewhere; and it writes the mark of the type into the head. It refuses a program that was not
// linked with the digest of that file system.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	program := flag.String("runtime", "", "the program")
	image := flag.String("image", "", "the file system")
	out := flag.String("out", "", "the file to make")
	flag.Parse()
	if err := run(*program, *image, *out); err != nil {
		fmt.Fprintln(os.Stderr, "seal:", err)
		os.Exit(1)
	}
}

func run(program, image, out string) error {
	head, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	tail, err := os.ReadFile(image)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(tail)
	if !bytes.Contains(head, []byte(hex.EncodeToString(sum[:]))) {
		return fmt.Errorf("%s was not linked with the digest of %s (%x)", program, image, sum)
	}
	if head, err = Head(head); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	if err := os.WriteFile(out, append(head, tail...), 0o755); err != nil {
		return err
	}
	return os.Chmod(out, 0o755) // whatever the mask
}

// page is the alignment of the file system, so that a mount of it can read whole pages of the file.
const page = 4096

// Head makes the first part of an AppImage of a program for a 64-bit Linux with low bytes first. Places and sizes are those of an
// Elf64_Ehdr and an Elf64_Shdr, as elf(5) has them; the mark, "AI" and 2 from the eighth byte, is that of the AppImage specification.
func Head(program []byte) ([]byte, error) {
	const (
		headSize    = 64
		sectionSize = 64
		mark        = "AI\x02"
	)
	if len(program) < headSize || string(program[:4]) != "\x7fELF" || program[4] != 2 || program[5] != 1 {
		return nil, errors.New("it is no program for a 64-bit machine with low bytes first")
	}
	le := binary.LittleEndian
	at, size, count := le.Uint64(program[0x28:]), le.Uint16(program[0x3a:]), le.Uint16(program[0x3c:])
	length := uint64(sectionSize) * uint64(count)
	if size != sectionSize || count == 0 || at > uint64(len(program)) || length > uint64(len(program))-at {
		return nil, errors.New("its table of sections cannot be found")
	}
	table := bytes.Clone(program[at : at+length])
	out := bytes.Clone(program)
	clear(out[at : at+length]) // the place stays: what is loaded is loaded from where it was
	end := (uint64(len(out)) + length + page - 1) / page * page
	out = append(out, make([]byte, end-length-uint64(len(out)))...)
	le.PutUint64(out[0x28:], uint64(len(out)))
	copy(out[8:], mark)
	return append(out, table...), nil
}
