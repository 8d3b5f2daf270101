package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
)

// TestAddEvents adds the events of several pages, whose communities and memberships occur once.
func TestAddEvents(t *testing.T) {
	t.Parallel()
	first, second := communities.Community{ID: "a"}, communities.Community{ID: "b"}
	var rows EventRows
	rows.Add(EventRows{
		Events: []content.PlannedEvent{{ID: "1"}}, IsPrivate: true, Communities: []communities.Community{first},
		Members: []communities.Member{{CommunityID: "a"}},
	})
	rows.Add(EventRows{
		Events: []content.PlannedEvent{{ID: "2"}, {ID: "3"}}, Communities: []communities.Community{second, first},
		Members: []communities.Member{{CommunityID: "b"}, {CommunityID: "a"}},
	})
	require.Equal(t, EventRows{
		Events: []content.PlannedEvent{{ID: "1"}, {ID: "2"}, {ID: "3"}}, IsPrivate: true, Communities: []communities.Community{first, second},
		Members: []communities.Member{{CommunityID: "a"}, {CommunityID: "b"}},
	}, rows)
}
