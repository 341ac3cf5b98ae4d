package agent

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// tailBlock is how much is read at a time from the end of a file.
const tailBlock = 64 << 10

// maxHead bounds the first line of a file of codex, which holds its instructions too.
const maxHead = 1 << 20

// linesFromEnd calls use for the whole lines of a file, last first, until it returns false or max bytes were read. A
// last line without its newline is being written and is passed over; so is a first one that the bound cuts.
func linesFromEnd(f *os.File, max int64, use func(line []byte) bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end := info.Size()
	floor := end - max
	if floor < 0 {
		floor = 0
	}
	var parts [][]byte // of the line under way, last first: a long line is not copied at every block
	started := false   // the newline that ends the line under way was seen
	for pos := end; pos > floor; {
		n := min(int64(tailBlock), pos-floor)
		pos -= n
		block := make([]byte, n)
		if _, err := f.ReadAt(block, pos); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for {
			i := bytes.LastIndexByte(block, '\n')
			if i < 0 {
				parts = append(parts, block)
				break
			}
			if started {
				if line := joinReversed(append(parts, block[i+1:])); len(line) > 0 && !use(line) {
					return nil
				}
			}
			started, parts = true, nil
			block = block[:i]
		}
	}
	if floor == 0 && started {
		if line := joinReversed(parts); len(line) > 0 {
			use(line)
		}
	}
	return nil
}

func joinReversed(parts [][]byte) []byte {
	var out []byte
	for i := len(parts) - 1; i >= 0; i-- {
		out = append(out, parts[i]...)
	}
	return bytes.TrimRight(out, "\r")
}

// firstLine reads the first line of a file, within maxHead.
func firstLine(f *os.File) ([]byte, error) {
	line, err := bufio.NewReaderSize(io.LimitReader(f, maxHead), 4<<10).ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return line, nil
}
