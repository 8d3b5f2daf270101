package textsearch

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxSearchWords is the maximum number of distinct words of an object that a search finds it by, the first ones.
	maxSearchWords = 100
	// maxWordBytes is the length of the longest word that is kept.
	maxWordBytes = 64
	// StemRunes is the number of letters of a prefix that words can be found by, and the minimum length of a prefix.
	StemRunes = 3
)

// SearchKind is what a search finds.
type SearchKind string

// The kinds of what a search finds. Hashtags are those of posts.
const (
	SearchPosts       SearchKind = "post"
	SearchHashtags    SearchKind = "hashtag"
	SearchCommunities SearchKind = "community"
)

// SearchKey returns the key of a word in search_words.
func SearchKey(kind SearchKind, word string) string { return searchHash(string(kind) + " " + word) }

// StemKey returns the key of the words with the first letters of a word. The word must have at least StemRunes letters.
func StemKey(kind SearchKind, word string) string {
	return searchHash(string(kind) + "* " + string([]rune(word)[:StemRunes]))
}

func searchHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// FoldWord returns the form of a word in which words are compared.
func FoldWord(word string) string { return strings.ToLower(norm.NFKC.String(word)) }

// Words returns the words of a text as they are compared, with repetitions. A word is a sequence of letters, marks and digits.
// Scripts without spaces between words have a word for every two letters.
func Words(text string) []string {
	var words []string
	for _, field := range strings.FieldsFunc(FoldWord(text), separatesWords) {
		if r, _ := utf8.DecodeRuneInString(field); unicode.In(r, spacelessScripts...) {
			words = append(words, pairs(field)...)
		} else if len(field) <= maxWordBytes {
			words = append(words, field)
		}
	}
	return words
}

func separatesWords(r rune) bool {
	return !unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// spacelessScripts are written without spaces between words.
var spacelessScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// pairs returns every two neighboring letters of a text.
func pairs(text string) []string {
	runes := []rune(text)
	if len(runes) < 2 {
		return []string{text}
	}
	words := make([]string, 0, len(runes)-1)
	for i := range len(runes) - 1 {
		words = append(words, string(runes[i:i+2]))
	}
	return words
}
