package service

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
)

func TestRetryOnConflict(t *testing.T) {
	conflicts := func(n int) (func() (int, error), *int) {
		tries := 0
		return func() (int, error) {
			if tries++; tries <= n {
				return 0, fmt.Errorf("commit: %w", ErrConflict)
			}
			return tries, nil
		}, &tries
	}
	t.Run("succeeds after conflicts", func(t *testing.T) {
		attempt, _ := conflicts(3)
		got, err := RetryOnConflict(t.Context(), attempt)
		require.NoError(t, err)
		require.Equal(t, 4, got)
	})
	t.Run("gives up", func(t *testing.T) {
		attempt, tries := conflicts(1000)
		_, err := RetryOnConflict(t.Context(), attempt)
		require.ErrorIs(t, err, fail.Conflict())
		require.Equal(t, maxConflictRetries+1, *tries)
	})
	t.Run("stops when the context is done", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		attempt, tries := conflicts(1000)
		_, err := RetryOnConflict(ctx, attempt)
		require.ErrorIs(t, err, fail.Conflict())
		require.Equal(t, 1, *tries)
	})
	t.Run("returns other errors", func(t *testing.T) {
		other := errors.New("other")
		_, err := RetryOnConflict(t.Context(), func() (int, error) { return 0, other })
		require.ErrorIs(t, err, other)
	})
}
