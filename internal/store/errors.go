package store

import (
	"errors"
	"os"
	"strings"

	"modernc.org/sqlite"

	"termic/internal/fault"
)

// Result codes of SQLite, from its C interface; the low byte of an extended code.
const (
	codeBusy       = 5
	codeReadOnly   = 8
	codeIOErr      = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	codeProtocol   = 15
	codeConstraint = 19
	codeNotADB     = 26
)

// sqliteCode returns the primary result code in err's chain, or 0.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// wrap gives an error of the database its words for the user. A fault passes as it is.
func wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	switch sqliteCode(err) {
	case codeFull:
		return fault.Wrap(err, fault.Unavailable, "The disk is full, so Termic could not %s", doing).
			WithHint("Free some space and try again; nothing was changed.")
	case codeReadOnly:
		return fault.Wrap(err, fault.Unavailable, "The state file cannot be written, so Termic could not %s", doing).
			WithHint("Check the permissions of the data folder.")
	case codeCorrupt, codeNotADB:
		return fault.Wrap(err, fault.Unavailable, "The state file is damaged, so Termic could not %s", doing).
			WithHint("Quit Termic, keep the file, and put back the newest copy beside it.")
	case codeIOErr, codeCantOpen, codeProtocol:
		return fault.Wrap(err, fault.Unavailable, "The disk reported an error, so Termic could not %s", doing).
			WithHint("Nothing was changed. The system's log says what is wrong with the disk of the data folder.")
	case codeBusy:
		return fault.Wrap(err, fault.Unavailable, "Another program holds the state file, so Termic could not %s", doing).
			WithHint("Nothing was changed. Try again when that program is done; Termic alone should write there.")
	case codeConstraint:
		return fault.Wrap(err, fault.Conflict, "What is stored does not allow it: Termic could not %s", doing)
	}
	return fault.Wrap(err, fault.From(err).Code, "Termic could not %s", doing)
}

// openFault says why the file at path cannot be opened.
func openFault(path string, err error) error {
	switch sqliteCode(err) {
	case codeCorrupt, codeNotADB:
		return fault.Wrap(err, fault.Unavailable, "The state file %s is damaged; it was left as it is", path).
			WithHint("Keep it, and put back the newest copy beside it, if there is one; the worktrees themselves are not touched.")
	}
	return fault.Wrap(err, fault.Unavailable, "The state file %s cannot be opened", path).
		WithHint("Check that the data folder is yours and can be written.")
}

// walFault says that the write-ahead log cannot be had where the file is. Network file systems have no shared memory
// between processes, which it needs.
func walFault(path string, err error) error {
	switch sqliteCode(err) {
	case codeCorrupt, codeNotADB, codeFull, codeBusy:
		return openFault(path, err)
	case codeReadOnly: // of the file, or only of the log's index beside it
		if f, rwErr := os.OpenFile(path, os.O_RDWR, 0); rwErr != nil {
			return openFault(path, rwErr)
		} else if rwErr := f.Close(); rwErr != nil {
			return openFault(path, rwErr)
		}
	}
	return fault.Wrap(err, fault.Unavailable,
		"The state file %s is on a file system without the locks and shared memory that it needs", path).
		WithHint("Network home folders often lack them. Give Termic a local folder with TERMIC_DATA_DIR.")
}

// limit refuses a text that is too long or has a NUL, which neither file names nor terminals can take.
func limit(what, text string, most int) error {
	if len(text) > most {
		return fault.New(fault.InvalidArgument, "The %s is %d bytes long; at most %d are allowed", what, len(text), most)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return fault.New(fault.InvalidArgument, "The %s has a NUL byte in it", what)
	}
	return nil
}

// firstError returns the first error of several checks.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// orError is err, or other when there is none.
func orError(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
