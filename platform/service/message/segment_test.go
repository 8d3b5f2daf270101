package message

import (
	"testing"

	"github.com/stretchr/testify/require"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestSegmentPage checks the options of older clients: first and after lead away from the first message, last and before from the last one.
func TestSegmentPage(t *testing.T) {
	t.Parallel()
	n := func(v int32) *int32 { return &v }
	const asc, desc = "segmentAsc", "segmentDesc"
	for name, c := range map[string]struct {
		options *plazav1.SegmentOptions
		want    *plazav1.MessageListOptions
		start   int64
	}{
		"none":  {nil, nil, 0},
		"empty": {&plazav1.SegmentOptions{}, &plazav1.MessageListOptions{SortBy: desc}, 0},
		"first": {&plazav1.SegmentOptions{First: n(3)}, &plazav1.MessageListOptions{SortBy: asc, Limit: n(3)}, 0},
		"after": {&plazav1.SegmentOptions{After: n(7)}, &plazav1.MessageListOptions{SortBy: asc}, 7},
		"first after": {
			&plazav1.SegmentOptions{First: n(3), After: n(7), Before: n(9)},
			&plazav1.MessageListOptions{SortBy: asc, Limit: n(3)}, 7,
		},
		"last":                 {&plazav1.SegmentOptions{Last: n(3)}, &plazav1.MessageListOptions{SortBy: desc, Limit: n(3)}, 0},
		"before":               {&plazav1.SegmentOptions{Before: n(7)}, &plazav1.MessageListOptions{SortBy: desc}, 7},
		"last before":          {&plazav1.SegmentOptions{Last: n(3), Before: n(7)}, &plazav1.MessageListOptions{SortBy: desc, Limit: n(3)}, 7},
		"last, ascending":      {&plazav1.SegmentOptions{Last: n(3), After: n(7)}, &plazav1.MessageListOptions{SortBy: asc, Limit: n(3)}, 7},
		"limit first":          {&plazav1.SegmentOptions{Limit: n(1), Last: n(2)}, &plazav1.MessageListOptions{SortBy: desc, Limit: n(1)}, 0},
		"first before last":    {&plazav1.SegmentOptions{First: n(2), Last: n(3)}, &plazav1.MessageListOptions{SortBy: asc, Limit: n(2)}, 0},
		"a token has a limit":  {&plazav1.SegmentOptions{Token: "t", First: n(3)}, &plazav1.MessageListOptions{SortBy: asc, Token: "t"}, 0},
		"a token, with a last": {&plazav1.SegmentOptions{Token: "t", Last: n(3)}, &plazav1.MessageListOptions{SortBy: desc, Token: "t"}, 0},
	} {
		options, start := segmentPage(c.options)
		require.Equal(t, c.want, options, name)
		require.Equal(t, c.start, start, name)
	}
}
