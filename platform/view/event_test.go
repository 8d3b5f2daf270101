package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store"
)

// TestAddEvents adds the events of several pages, whose communities and memberships occur once.
func TestAddEvents(t *testing.T) {
	t.Parallel()
	first, second := store.Community{ID: "a"}, store.Community{ID: "b"}
	var rows EventRows
	rows.Add(EventRows{
		Events: []store.PlannedEvent{{ID: "1"}}, IsPrivate: true, Communities: []store.Community{first},
		Members: []store.Member{{CommunityID: "a"}},
	})
	rows.Add(EventRows{
		Events: []store.PlannedEvent{{ID: "2"}, {ID: "3"}}, Communities: []store.Community{second, first},
		Members: []store.Member{{CommunityID: "b"}, {CommunityID: "a"}},
	})
	require.Equal(t, EventRows{
		Events: []store.PlannedEvent{{ID: "1"}, {ID: "2"}, {ID: "3"}}, IsPrivate: true, Communities: []store.Community{first, second},
		Members: []store.Member{{CommunityID: "a"}, {CommunityID: "b"}},
	}, rows)
}
