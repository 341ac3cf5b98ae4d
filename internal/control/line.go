package control

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

var errLineTooLong = errors.New("line is longer than the protocol allows")

// lineReader cuts a stream into lines. Memory grows with what was received, never beyond MaxLine and a buffer.
type lineReader struct {
	r     *bufio.Reader
	limit int // bytes of a line
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 32<<10), MaxLine}
}

// next returns the next line without its end, in memory of its own. At the end of the stream a line without its
// newline is io.ErrUnexpectedEOF: what was cut off is never acted upon.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > l.limit+1 {
			return nil, errLineTooLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// lineWriter writes whole messages, one at a time, whoever calls it. After the first failure every write fails: what
// follows half a line would be garbage.
type lineWriter struct {
	mu      sync.Mutex // guards all below
	conn    net.Conn
	timeout time.Duration // of one message; 0: none
	limit   int           // bytes of a line; 0: MaxLine
	failed  error
}

// write sends one message. A message over the limit is not sent at all and is errLineTooLong, which is no failure of the
// connection.
func (w *lineWriter) write(v any) error {
	line, err := encode(v)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(line) > max(w.limit, MaxLine)+1 {
		return errLineTooLong
	}
	if w.failed != nil {
		return w.failed
	}
	if w.timeout > 0 {
		if err := w.conn.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
			return err
		}
	}
	_, w.failed = w.conn.Write(line)
	return w.failed
}

// encode makes one line with its end. Unlike json.Marshal it leaves <, > and & alone: they would grow sixfold, and a
// result must reach the client with the bytes that it was made with.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// roomy lets longer lines through.
func (w *lineWriter) roomy(limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = limit
}

// patient lifts the time limit, for an attached terminal: its reader may stop for as long as it likes.
func (w *lineWriter) patient() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timeout = 0
	return w.conn.SetWriteDeadline(time.Time{})
}
