package store

import "strings"

const (
	// userNameKeyRunes is how much of a person's name an index key holds: three letters. Bytes of index keys may leave
	// the region, names must not.
	userNameKeyRunes = 3
	// PublicNameKeyRunes is how much of a community's or category's name orders it: enough for order, and short enough
	// for a page token.
	PublicNameKeyRunes = 12
)

// NameKey is the beginning of a name in lower case, which lists are ordered by.
func NameKey(name string, runes int) string {
	key := []rune(strings.ToLower(name))
	return string(key[:min(len(key), runes)])
}

// highest sorts after every text that clients can send.
const highest = "\U0010FFFF\U0010FFFF"

// prefixRange returns the range of keys that begin with prefix.
func prefixRange(prefix string) (low, high string) { return prefix, prefix + highest }

// likePrefix returns the LIKE pattern of texts that begin with prefix, in lower case.
func likePrefix(prefix string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(prefix)) + "%"
}

func pick[T any](desc bool, down, up T) T {
	if desc {
		return down
	}
	return up
}
