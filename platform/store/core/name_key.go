package core

import "strings"

const (
	// PersonNameKeyRunes is the length of the index key of a person's name. Index keys may be replicated outside of the
	// region, names must not.
	PersonNameKeyRunes = 3
	// PublicNameKeyRunes is the length of the index key of a community's or category's name. The key is part of page
	// tokens.
	PublicNameKeyRunes = 12
)

// NameKey returns the beginning of a name in lower case, which lists are ordered by.
func NameKey(name string, runes int) string {
	key := []rune(strings.ToLower(name))
	return string(key[:min(len(key), runes)])
}

// KeyOf returns the key of a changed name; nil if the name is unchanged.
func KeyOf(name *string, runes int) *string {
	if name == nil {
		return nil
	}
	key := NameKey(*name, runes)
	return &key
}

// highest is greater than every text that clients can send.
const highest = "\U0010FFFF\U0010FFFF"

// PrefixRange returns the range of the keys with the prefix.
func PrefixRange(prefix string) (low, high string) { return prefix, prefix + highest }

// LikePrefix returns the LIKE pattern of lower-case texts with the prefix.
func LikePrefix(prefix string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(prefix)) + "%"
}
