package flag

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestItemListOf(t *testing.T) {
	t.Parallel()
	type request = plazav1.ListFlagItemsRequest
	for name, test := range map[string]struct {
		req  *request
		back bool
		want store.FlagItemList
	}{
		"default":                   {&request{}, false, store.FlagItemList{State: store.FlagsOpen, Desc: true}},
		"page before":               {&request{}, true, store.FlagItemList{State: store.FlagsOpen}},
		"oldest first":              {&request{SortBy: "firstCreated"}, false, store.FlagItemList{State: store.FlagsOpen}},
		"oldest first, page before": {&request{SortBy: "firstCreated"}, true, store.FlagItemList{State: store.FlagsOpen, Desc: true}},
		"state":                     {&request{State: "resolved"}, false, store.FlagItemList{State: store.FlagsResolved, Desc: true}},
		"filters": {
			&request{TargetType: "post", Reason: "Spam", Region: "sg"}, false,
			store.FlagItemList{State: store.FlagsOpen, TargetType: store.FlagPost, Reason: "Spam", Desc: true, Homes: []region.Code{region.SG}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := itemListOf(test.req, page.Cursor{Limit: 10, Back: test.back})
			if test.want.Homes == nil {
				test.want.Homes = region.All()
			}
			test.want.Limit, test.want.After, test.want.AfterID = 11, got.After, got.AfterID
			require.Equal(t, test.want, got)
		})
	}
}

func TestFlagListOf(t *testing.T) {
	t.Parallel()
	got := listOf(&plazav1.ListFlagsRequest{TargetId: "t", TargetType: "user", Reason: "Spam"}, page.Cursor{Limit: 10})
	require.Equal(t, store.FlagList{
		Homes: region.All(), TargetID: "t", TargetType: store.FlagUser, Reason: "Spam", Desc: true, Limit: 11, After: got.After,
		AfterID: got.AfterID,
	}, got)
	got = listOf(&plazav1.ListFlagsRequest{Region: "eu"}, page.Cursor{Limit: 10, Back: true})
	require.False(t, got.Desc)
	require.Equal(t, []region.Code{region.EU}, got.Homes)
}

func TestUsersOfItems(t *testing.T) {
	t.Parallel()
	items := []store.FlagItem{{ClaimedBy: "claimer", ResolvedBy: store.FlagAdministrator}, {ClaimedBy: "flagger"}}
	got := usersOf(items, []store.Flag{{UserID: "flagger"}, {UserID: "flagger"}}, []store.FlagNote{{AuthorID: "author"}})
	require.Subset(t, got, []string{"flagger", "claimer", "author"})
	require.Len(t, got, 5, "each once; an item without a moderator and the administrator are no users")
}

func TestFlagsGoToTheirItems(t *testing.T) {
	t.Parallel()
	s := New(deps())
	got := s.items(
		[]store.FlagItem{{TargetID: "a"}, {TargetID: "b"}, {TargetID: "c"}},
		[]store.Flag{{TargetID: "b", UserID: "1"}, {TargetID: "a", UserID: "2"}, {TargetID: "b", UserID: "3"}}, nil,
	)
	var flaggers [][]string
	for _, i := range got {
		var ids []string
		for _, f := range i.GetFlags() {
			ids = append(ids, f.GetUserInternalId())
		}
		flaggers = append(flaggers, ids)
	}
	require.Equal(t, [][]string{{"2"}, {"1", "3"}, nil}, flaggers)
}
