package service

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
)

func TestFilters(t *testing.T) {
	yes, no := true, false
	for name, test := range map[string]struct {
		hasFlag   *bool
		moderates bool
		want      store.Flagged
		err       error
	}{
		"none":             {nil, false, store.FlaggedAny, nil},
		"none, moderator":  {nil, true, store.FlaggedAny, nil},
		"true":             {&yes, false, store.FlaggedAny, fail.NotAllowed()},
		"true, moderator":  {&yes, true, store.FlaggedOnly, nil},
		"false as default": {&no, false, store.FlaggedAny, nil},
		"false, moderator": {&no, true, store.FlaggedNone, nil},
	} {
		got, err := FlaggedOf(test.hasFlag, test.moderates)
		require.Equal(t, test.want, got, name)
		require.Equal(t, test.err, err, name)
	}
	require.Equal(t, []store.Deleted{store.DeletedAny, store.DeletedOnly, store.DeletedNone},
		[]store.Deleted{DeletedOf(nil), DeletedOf(&yes), DeletedOf(&no)})
	for sortBy, want := range map[string]Order{
		"": {Desc: true}, "lastCreated": {Desc: true}, "firstCreated": {}, "lastUpdated": {ByUpdate: true, Desc: true},
		"firstUpdated": {ByUpdate: true},
	} {
		require.Equal(t, want, OrderOf(sortBy), sortBy)
	}
}
