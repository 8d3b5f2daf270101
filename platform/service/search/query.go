package search

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/textsearch"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxQueryWords is the maximum number of words of a query.
const maxQueryWords = 10

var (
	errNothing      = fail.Validation("query: must contain a word if there are no hashtags")
	errManyWords    = fail.Validation(fmt.Sprintf("query: must have at most %d different words", maxQueryWords))
	errShortPrefix  = fail.Validation(fmt.Sprintf("query: must have at least %d letters before *", textsearch.StemRunes))
	errPrefix       = fail.Validation("query: must not end with * if there are hashtags")
	errNoTargetType = fail.Validation("targetType: must be community, user or content if there is a targetId")
)

// search selects the posts with a word that contain the words of other keys as well.
type search struct {
	word   textsearch.SearchWord
	others []string
}

// searchesOf returns the searches of a request, each of which finds posts.
func searchesOf(req *plazav1.SearchPostsRequest) ([]search, error) {
	words := service.Distinct(textsearch.Words(req.GetQuery()))
	isPrefix := strings.HasSuffix(req.GetQuery(), "*")
	switch {
	case len(words) > maxQueryWords:
		return nil, errManyWords
	case isPrefix && len(req.GetHashtags()) > 0:
		return nil, errPrefix
	case len(req.GetHashtags()) > 0:
		return withHashtags(req.GetHashtags(), keysOf(words)), nil
	case len(words) == 0:
		return nil, errNothing
	}
	last, others := words[len(words)-1], keysOf(words[:len(words)-1])
	if !isPrefix {
		return []search{{exactly(textsearch.SearchPosts, last), others}}, nil
	}
	if utf8.RuneCountInString(last) < textsearch.StemRunes {
		return nil, errShortPrefix
	}
	return []search{{textsearch.SearchWord{Key: textsearch.StemKey(textsearch.SearchPosts, last), Word: last, IsPrefix: true}, others}}, nil
}

// withHashtags returns the searches for the posts that have one of hashtags and contain all words with keys.
func withHashtags(hashtags, keys []string) []search {
	tags := service.SortedSet(service.Map(hashtags, func(tag string) string { return textsearch.FoldWord(strings.TrimPrefix(tag, "#")) }))
	return service.Map(tags, func(tag string) search { return search{exactly(textsearch.SearchHashtags, tag), keys} })
}

func exactly(kind textsearch.SearchKind, word string) textsearch.SearchWord {
	return textsearch.SearchWord{Key: textsearch.SearchKey(kind, word), Word: word}
}

func keysOf(words []string) []string {
	return service.Map(words, func(word string) string { return textsearch.SearchKey(textsearch.SearchPosts, word) })
}
