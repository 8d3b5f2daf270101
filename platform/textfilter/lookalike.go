package textfilter

import (
	"strings"
	"unicode"

	"go.mau.fi/util/confusable"
	"golang.org/x/text/unicode/norm"
)

// unmasked returns a folded text without two disguises of words: accents on Latin letters, and letters of another script
// that look like Latin ones. The latter are only replaced in words that mix scripts, so that words of other scripts stay
// what they are. It returns text itself if it has neither.
func unmasked(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return text
	}
	var out strings.Builder
	for word := range strings.FieldsFuncSeq(norm.NFD.String(text), func(r rune) bool { return !isWordChar(r) }) {
		out.WriteString(unmaskedWord(word))
		out.WriteByte(' ')
	}
	return norm.NFC.String(out.String())
}

func unmaskedWord(word string) string {
	if !strings.ContainsFunc(word, isLatin) {
		return word
	}
	var out strings.Builder
	latin := false // whether the last letter is Latin
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Mn, r) && latin:
		case unicode.IsLetter(r) && !isLatin(r):
			looks := strings.ToLower(confusable.Skeleton(string(r)))
			out.WriteString(looks)
			latin = strings.ContainsFunc(looks, isLatin)
		default:
			out.WriteRune(r)
			latin = isLatin(r)
		}
	}
	return out.String()
}

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) }
