package search

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/textsearch"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FuzzSearchesOf checks that every query is refused as a validation error or leads to a bounded number of searches by words that the
// databases can store.
func FuzzSearchesOf(f *testing.F) {
	for _, query := range []string{"", "*", "climb*", "cl*", "rock climbing*", "岩登り", "ＲＯＣＫ", "a b c d e f g h i j k", "\xff\x00"} {
		f.Add(query, "")
		f.Add(query, "#Sunday")
	}
	f.Fuzz(func(t *testing.T, query, hashtag string) {
		req := &plazav1.SearchPostsRequest{Query: query}
		if hashtag != "" {
			req.Hashtags = []string{hashtag}
		}
		searches, err := searchesOf(req)
		if err != nil {
			require.True(t, fail.From(err).Is(fail.Validation()))
			return
		}
		require.Len(t, searches, 1)
		require.LessOrEqual(t, len(searches[0].others), maxQueryWords)
		require.Len(t, searches[0].word.Key, len(textsearch.SearchKey(textsearch.SearchPosts, "")))
		if hashtag == "" {
			require.True(t, utf8.ValidString(searches[0].word.Word))
			require.NotContains(t, searches[0].word.Word, "\x00")
		}
	})
}
