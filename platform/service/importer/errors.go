package importer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plaza-social/plaza/platform/fail"
)

// LineError says why a line cannot be imported.
type LineError struct {
	File   string
	Line   int64
	Reason string // what is wrong, and what is allowed
}

// Error returns the place and the reason.
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

func newLineError(file string, number int64, err error) *LineError {
	return &LineError{File: file, Line: number, Reason: reasonOf(err)}
}

// reasonOf returns the text of an error. That of an error for clients is in its details.
func reasonOf(err error) string {
	failed, ok := errors.AsType[*fail.Error](err)
	switch {
	case !ok:
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	case len(failed.Details) > 0:
		return strings.Join(failed.Bounded().Details, "; ")
	}
	return failed.Message
}

// inData returns a validation error of the API for the field data of a line.
func inData(err error) error {
	failed, ok := errors.AsType[*fail.Error](err)
	if !ok {
		return err
	}
	details := make([]string, len(failed.Details))
	for n, detail := range failed.Details {
		details[n] = "data." + detail
	}
	return fail.Validation(details...)
}
