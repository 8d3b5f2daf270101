package flag

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestItemListOf(t *testing.T) {
	t.Parallel()
	type request = plazav1.ListFlagItemsRequest
	for name, test := range map[string]struct {
		req  *request
		back bool
		want content.FlagItemList
	}{
		"default":                   {&request{}, false, content.FlagItemList{State: content.FlagsOpen, Desc: true}},
		"page before":               {&request{}, true, content.FlagItemList{State: content.FlagsOpen}},
		"oldest first":              {&request{SortBy: "firstCreated"}, false, content.FlagItemList{State: content.FlagsOpen}},
		"oldest first, page before": {&request{SortBy: "firstCreated"}, true, content.FlagItemList{State: content.FlagsOpen, Desc: true}},
		"state":                     {&request{State: "resolved"}, false, content.FlagItemList{State: content.FlagsResolved, Desc: true}},
		"filters": {
			&request{TargetType: "post", Reason: "Spam", Region: "sg"}, false,
			content.FlagItemList{
				State: content.FlagsOpen, TargetType: content.FlagPost, Reason: "Spam", Desc: true,
				Homes: []region.Code{region.SG},
			},
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
	require.Equal(t, content.FlagList{
		Homes: region.All(), TargetID: "t", TargetType: content.FlagUser, Reason: "Spam", Desc: true, Limit: 11, After: got.After,
		AfterID: got.AfterID,
	}, got)
	got = listOf(&plazav1.ListFlagsRequest{Region: "eu"}, page.Cursor{Limit: 10, Back: true})
	require.False(t, got.Desc)
	require.Equal(t, []region.Code{region.EU}, got.Homes)
}

func TestUsersOfItems(t *testing.T) {
	t.Parallel()
	items := []content.FlagItem{{ClaimedBy: "claimer", ResolvedBy: content.FlagAdministrator}, {ClaimedBy: "flagger"}}
	got := usersOf(items, []content.Flag{{UserID: "flagger"}, {UserID: "flagger"}}, []content.FlagNote{{AuthorID: "author"}})
	require.Subset(t, got, []string{"flagger", "claimer", "author"})
	require.Len(t, got, 5, "each once; an item without a moderator and the administrator are no users")
}

func TestFlagsGoToTheirItems(t *testing.T) {
	t.Parallel()
	s := New(deps())
	got := s.items(
		[]content.FlagItem{{TargetID: "a"}, {TargetID: "b"}, {TargetID: "c"}},
		[]content.Flag{{TargetID: "b", UserID: "1"}, {TargetID: "a", UserID: "2"}, {TargetID: "b", UserID: "3"}}, nil,
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
