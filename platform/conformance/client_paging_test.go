package conformance

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// TestLaterPagesWithoutParameters lists messages as public clients do: later pages have the token instead of the page size
// and the order.
func TestLaterPagesWithoutParameters(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	c := newChat(t, author)
	for _, text := range []string{"1", "2", "3", "4", "5"} {
		c.newMessage(t, author, text)
	}
	for order, pages := range map[string][][]int{
		"segmentDesc": {{5, 4}, {3, 2}, {1}},
		"segmentAsc":  {{1, 2}, {3, 4}, {5}},
	} {
		query := url.Values{"isDeleted": {"false"}, "options[sortBy]": {order}, "options[limit]": {"2"}}
		var found [][]int
		for range pages {
			r := c.messages(t, author, query).OK(t)
			found = append(found, segments(t, r))
			query = url.Values{"isDeleted": {"false"}, "options[token]": {r.String(t, "paging.next")}}
		}
		require.Equal(t, pages, found, order)
	}
}
