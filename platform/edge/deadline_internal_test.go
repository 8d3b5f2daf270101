package edge

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deadlines is a response writer that records its last deadline.
type deadlines struct {
	*httptest.ResponseRecorder
	last time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.last = at
	return nil
}

// TestResetStreamsHaveNoDeadline checks that nothing is left behind for a stream that the client has reset. A client that closes
// only its own side of an HTTP/1.1 connection may still be written to, within a deadline.
func TestResetStreamsHaveNoDeadline(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx          context.Context // of a request
		http2, limit bool
	}{
		"a stream":                  {t.Context(), true, true},
		"a stream that was reset":   {over, true, false},
		"a connection":              {t.Context(), false, true},
		"a connection closed by it": {over, false, true},
	} {
		d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		w := &responseWriter{ResponseWriter: d, ctx: tc.ctx, writeTimeout: time.Minute, http2: tc.http2}
		w.extendDeadline()
		require.Equal(t, tc.limit, !d.last.IsZero(), name)
	}
}
