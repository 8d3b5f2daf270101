package directory

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/plaza-social/plaza/platform/fail"
)

// CheckName returns an error unless a name by which people recognise users, a user id or a profile handle, is
// unambiguous: two that differ must not look the same because of a character that is not visible. field is the name of
// the field in the error.
func CheckName(field, name string) error {
	for _, r := range name {
		if isInvisible(r) {
			return fail.Validation(fmt.Sprintf("%s: must not contain invisible or control characters, or spaces other than U+0020, such as %U",
				field, r))
		}
	}
	if strings.TrimSpace(name) != name {
		return fail.Validation(field + ": must not start or end with a space")
	}
	if !norm.NFC.IsNormalString(name) {
		return fail.Validation(field + ": must be in Unicode normalization form C (NFC), such as é instead of e and a combining accent")
	}
	return nil
}

// brailleBlank is a symbol without a dot.
const brailleBlank = '\u2800'

// isInvisible reports whether a character has no shape of its own. The ordinary space is visible between letters.
func isInvisible(r rune) bool {
	if r == ' ' {
		return false
	}
	return r == brailleBlank || unicode.In(r, unicode.C, unicode.Z, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
