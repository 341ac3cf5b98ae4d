package clientsetup

import (
	"errors"

	"termic/internal/atomicfile"
	"termic/internal/fault"
	"termic/internal/tomledit"
)

// unreadable puts an error of reading into words.
func unreadable(file string, err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return fault.Wrap(err, e.Code, "%s cannot be edited: %s", file, e.Message).WithHint("%s", e.Hint)
	}
	const kept = "Termic left the file as it is."
	if e, ok := errors.AsType[*tomledit.SyntaxError](err); ok {
		return fault.Wrap(err, fault.Conflict, "%s does not parse: %s", file, e.Error()).
			WithHint("%s Correct it, then try again. Quotation marks must be the straight kind.", kept)
	}
	if e, ok := errors.AsType[*jsonError](err); ok {
		return fault.Wrap(err, fault.Conflict, "%s does not parse: %s", file, e.Error()).
			WithHint("%s Correct it, then try again. Quotation marks must be the straight kind.", kept)
	}
	if e, ok := errors.AsType[*tomledit.RefusedError](err); ok {
		return fault.Wrap(err, fault.Conflict, "%s cannot be edited: %s", file, e.Error()).
			WithHint("%s Put the block that is offered for copying in by hand.", kept)
	}
	if errors.Is(err, errOutside) {
		return fault.Wrap(err, fault.Conflict, "%s cannot be edited without touching something else in it", file).
			WithHint("%s Put the block that is offered for copying in by hand.", kept)
	}
	if errors.Is(err, atomicfile.ErrLoop) {
		return fault.Wrap(err, fault.Conflict, "%s is a symbolic link that leads in a circle", file).WithHint("Repair the link, then try again.")
	}
	return fault.Wrap(err, fault.Unavailable, "%s cannot be read", file).WithHint("%s Check what lies there, and that you may read it.", kept)
}

// unwritable puts an error of writing into words; that somebody else wrote stays as it is.
func unwritable(file string, err error) error {
	if err == nil || errors.Is(err, atomicfile.ErrChanged) {
		return err
	}
	return fault.Wrap(err, fault.Unavailable, "%s cannot be written", file).
		WithHint("Check that you may write it and its folder, and that the disk is not full.")
}
