package limits_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/limits"
)

// TestDocumentedLimits checks the limits whose values the documentation promises.
func TestDocumentedLimits(t *testing.T) {
	l := limits.Production()
	require.Equal(t, 50*time.Second, l.AnnounceLease,
		"shorter than the minute after which other servers take a server for one that has stopped")
	require.Equal(t, 10*time.Second, l.MoveLease)
	require.Equal(t, 1500*time.Millisecond, l.HoldMoving)
	require.Equal(t, time.Second, l.MoveAtOnce)
	require.Equal(t, 12*time.Second, l.FollowErasure)
}

// TestLift checks that every time limit has a value in production, and that tests lift all of them.
func TestLift(t *testing.T) {
	production, lifted := reflect.ValueOf(limits.Production()), reflect.ValueOf(limits.Lift())
	for field, limit := range production.Fields() {
		require.Positive(t, limit.Interface(), field.Name)
		require.Less(t, limit.Interface(), limits.Lifted, field.Name)
		require.Equal(t, time.Minute, lifted.FieldByIndex(field.Index).Interface(), field.Name)
	}
}
