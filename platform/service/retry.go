package service

import (
	"context"
	"errors"

	"github.com/plaza-social/plaza/platform/fail"
)

// ErrConflict says that what an edit was made of has changed meanwhile.
var ErrConflict = errors.New("changed since it was read")

// maxConflictRetries is how often an edit starts anew when others are faster.
const maxConflictRetries = 20

// Edit runs an edit until it meets nobody else's: it reads, decides and writes, and returns ErrConflict where what it read has changed
// meanwhile. So of two edits at once each is stored whole, one after the other.
func RetryOnConflict[T any](ctx context.Context, once func() (T, error)) (T, error) {
	for try := 0; ; try++ {
		done, err := once()
		if !errors.Is(err, ErrConflict) {
			return done, err
		}
		if try == maxConflictRetries || ctx.Err() != nil {
			return done, fail.Conflict()
		}
	}
}
