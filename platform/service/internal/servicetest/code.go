package servicetest

import "github.com/plaza-social/plaza/platform/fail"

// CodeOf returns the code of an error, or 0 for nil.
func CodeOf(err error) fail.Code {
	if err == nil {
		return 0
	}
	return fail.From(err).Code
}
