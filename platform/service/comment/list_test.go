package comment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestListOf(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	type request = plazav1.ListCommentsRequest
	for name, test := range map[string]struct {
		req        *request
		everyLevel bool
		exact      bool
	}{
		"default: the first level":       {&request{}, false, false},
		"every level":                    {&request{FilterByParentId: &no}, true, false},
		"the first level, as asked":      {&request{FilterByParentId: &yes}, false, false},
		"replies to a comment":           {&request{ParentId: "c"}, false, false},
		"replies, although not filtered": {&request{ParentId: "c", FilterByParentId: &no}, false, false},
		"with exactly these types": {
			&request{DataTypes: &plazav1.CommentDataTypes{Values: []string{"text"}, MatchType: "exact"}}, false,
			true,
		},
		"with any of these types": {&request{DataTypes: &plazav1.CommentDataTypes{Values: []string{"text"}, MatchType: "any"}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := listOf(test.req, page.Cursor{Limit: 4})
			require.Equal(t, [2]bool{test.everyLevel, test.exact}, [2]bool{got.EveryLevel, got.ExactTypes})
			require.Equal(t, 5, got.Limit)
			require.Equal(t, test.req.GetDataTypes().GetValues(), got.DataTypes)
			require.NotEqual(t, got.Desc, listOf(test.req, page.Cursor{Limit: 4, Back: true}).Desc)
		})
	}
}
