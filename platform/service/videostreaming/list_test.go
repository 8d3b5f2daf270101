package videostreaming

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestListOf(t *testing.T) {
	t.Parallel()
	yes, statuses := true, []string{"live", "idle", "live"}
	for name, test := range map[string]struct {
		req  *plazav1.ListVideoStreamingsRequest
		back bool
		want media.StreamList
	}{
		"default":                   {&plazav1.ListVideoStreamingsRequest{}, false, media.StreamList{Desc: true}},
		"the page before":           {&plazav1.ListVideoStreamingsRequest{}, true, media.StreamList{}},
		"oldest first":              {&plazav1.ListVideoStreamingsRequest{SortBy: "firstCreated"}, false, media.StreamList{}},
		"oldest first, page before": {&plazav1.ListVideoStreamingsRequest{SortBy: "firstCreated"}, true, media.StreamList{Desc: true}},
		"states, each once": {
			&plazav1.ListVideoStreamingsRequest{Statuses: statuses}, false,
			media.StreamList{Desc: true, Statuses: []string{"idle", "live"}},
		},
		"isLive replaces the states": {
			&plazav1.ListVideoStreamingsRequest{Statuses: []string{"ended"}, IsLive: true}, false,
			media.StreamList{Desc: true, Statuses: []string{"live"}},
		},
		"deleted": {&plazav1.ListVideoStreamingsRequest{IsDeleted: &yes}, false, media.StreamList{Desc: true, Deleted: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := New(&service.Deps{}).listOf(t.Context(), test.req, page.Cursor{Limit: 5, Back: test.back})
			require.NoError(t, err)
			test.want.Limit, test.want.After, test.want.AfterID = 6, got.After, got.AfterID
			require.Equal(t, test.want, got)
		})
	}
	_, err := New(&service.Deps{}).listOf(t.Context(), &plazav1.ListVideoStreamingsRequest{IsDeleted: &yes, UserPublicIds: []string{"anna"}},
		page.Cursor{})
	require.Equal(t, fail.KindValidation, fail.From(err).Kind)
}
