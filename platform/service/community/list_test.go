package community

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestListOf(t *testing.T) {
	t.Parallel()
	no := false
	type request = plazav1.ListCommunitiesRequest
	for name, test := range map[string]struct {
		req  *request
		back bool
		want communities.CommunityList
	}{
		"default":              {&request{}, false, communities.CommunityList{Discoverable: true, Desc: true}},
		"page before":          {&request{}, true, communities.CommunityList{Discoverable: true}},
		"oldest first":         {&request{SortBy: "firstCreated"}, false, communities.CommunityList{Discoverable: true}},
		"by name":              {&request{SortBy: "displayName"}, false, communities.CommunityList{Discoverable: true, ByName: true}},
		"by name, page before": {&request{SortBy: "displayName"}, true, communities.CommunityList{Discoverable: true, ByName: true, Desc: true}},
		"a search is by name": {
			&request{Keyword: "a", SortBy: "lastCreated"}, false,
			communities.CommunityList{Discoverable: true, ByName: true, Prefix: "a"},
		},
		"older name of the search": {&request{DisplayName: "a"}, false, communities.CommunityList{Discoverable: true, ByName: true, Prefix: "a"}},
		"both names of the search": {
			&request{DisplayName: "a", Keyword: "b"}, false,
			communities.CommunityList{Discoverable: true, ByName: true, Prefix: "b"},
		},
		"without private ones": {&request{IncludeDiscoverablePrivateCommunity: &no}, false, communities.CommunityList{Desc: true}},
		"not a member": {
			&request{Membership: "notMember"}, false,
			communities.CommunityList{Discoverable: true, Desc: true, NotMine: true},
		},
		"filter before membership": {
			&request{Filter: "all", Membership: "notMember"}, false,
			communities.CommunityList{Discoverable: true, Desc: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := listOf(test.req, page.Cursor{Limit: 4, Back: test.back})
			test.want.Limit, test.want.AfterTime, test.want.AfterKey, test.want.AfterID = 5, got.AfterTime, got.AfterKey, got.AfterID
			require.Equal(t, test.want, got)
		})
	}
}
