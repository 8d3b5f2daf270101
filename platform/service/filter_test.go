package service

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store"
)

func TestFilters(t *testing.T) {
	yes, no := true, false
	require.Equal(t, []store.Flagged{store.FlaggedAny, store.FlaggedOnly, store.FlaggedNone}, []store.Flagged{FlaggedOf(nil), FlaggedOf(&yes), FlaggedOf(&no)})
	require.Equal(t, []store.Deleted{store.DeletedAny, store.DeletedOnly, store.DeletedNone}, []store.Deleted{DeletedOf(nil), DeletedOf(&yes), DeletedOf(&no)})
	for sortBy, want := range map[string]Order{
		"": {Desc: true}, "lastCreated": {Desc: true}, "firstCreated": {}, "lastUpdated": {ByUpdate: true, Desc: true}, "firstUpdated": {ByUpdate: true},
	} {
		require.Equal(t, want, OrderOf(sortBy), sortBy)
	}
}
