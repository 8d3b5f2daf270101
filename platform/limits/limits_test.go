package limits_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/limits"
)

// TestLift holds that every time limit has a value in production, and that tests lift all of them.
func TestLift(t *testing.T) {
	production, lifted := reflect.ValueOf(limits.Production()), reflect.ValueOf(limits.Lift())
	for field, limit := range production.Fields() {
		require.Positive(t, limit.Interface(), field.Name)
		require.Less(t, limit.Interface(), limits.Lifted, field.Name)
		require.Equal(t, time.Minute, lifted.FieldByIndex(field.Index).Interface(), field.Name)
	}
}
