package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/textsearch"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                             nil,
		" ... !":                       nil,
		"Rock climbing, on SUNDAY!":    {"rock", "climbing", "on", "sunday"},
		"l'été à Zürich":               {"l", "été", "à", "zürich"},
		"e\u0301te\u0301":              {"été"},
		"ﬁne １２":                       {"fine", "12"},
		"#tag_with 3rd":                {"tag", "with", "3rd"},
		"東京タワー and":                    {"東京", "京タ", "タワ", "ワー", "and"},
		"山":                            {"山"},
		"สวัสดี":                       {"สว", "วั", "ัส", "สด", "ดี"},
		"a " + strings.Repeat("x", 65): {"a"},
	} {
		require.Equal(t, want, textsearch.Words(text), text)
	}
}

// TestSearchKeys checks that a key shows no word and belongs to one kind of objects.
func TestSearchKeys(t *testing.T) {
	t.Parallel()
	post := textsearch.SearchKey(textsearch.SearchPosts, "climbing")
	require.Regexp(t, "^[0-9a-f]{16}$", post)
	require.NotEqual(t, post, textsearch.SearchKey(textsearch.SearchHashtags, "climbing"))
	require.Equal(t, textsearch.StemKey(textsearch.SearchPosts, "climbing"), textsearch.StemKey(textsearch.SearchPosts, "cli"))
	require.NotEqual(t, textsearch.SearchKey(textsearch.SearchPosts, "cli"), textsearch.StemKey(textsearch.SearchPosts, "cli"))
}
