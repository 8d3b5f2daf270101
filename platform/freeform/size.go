package freeform

import (
	"fmt"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/fail"
)

// MaxCustomBytes is the size that most nouns allow for a free-form object such as metadata, as compact JSON.
const MaxCustomBytes = 10 << 10

// RequireSize returns a validation error if an object of a request has more than limit bytes as the JSON that is
// stored. The texts named except do not count.
func RequireSize(field string, object Object, limit int, except ...string) error {
	if object.Size(except...) > limit && !defence.Off(defence.ObjectSize) {
		return fail.Validation(fmt.Sprintf("%s: must be at most %d bytes of JSON", field, limit))
	}
	return nil
}
