package edge

import (
	"net/url"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/fail"
)

// restQuery rewrites a raw query from the habits of public clients to what vanguard reads:
//
//	options[limit]=3                 options.limit=3
//	dataTypes[values][0]=text        dataTypes.values=text
//	userIds[]=a&userIds[]=b          userIds=a&userIds=b
//	hasFlag=null                     (absent)
//	a parameter that the path names  (absent: the path wins)
//
// brackets percent-encoded or not. In lists by ids, an id that was encoded twice is decoded twice. What is no parameter
// of any field is left to vanguard, which ignores it.
func restQuery(raw string, to *route) (string, *fail.Error) {
	if raw == "" {
		return "", nil
	}
	var out strings.Builder
	out.Grow(len(raw))
	for pair := range strings.SplitSeq(raw, "&") {
		if err := addPair(&out, pair, to); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

func addPair(out *strings.Builder, pair string, to *route) *fail.Error {
	rawName, rawValue, _ := strings.Cut(pair, "=")
	name, err := url.QueryUnescape(rawName)
	if err != nil {
		return fail.BadRequest().Because(err)
	}
	value, err := url.QueryUnescape(rawValue)
	if err != nil {
		return fail.BadRequest().Because(err)
	}
	field, ok := fieldPath(name)
	if !ok || value == "null" || slices.Contains(to.inPath, field) {
		return nil
	}
	if to.isList && strings.HasSuffix(field, "Ids") {
		value = decodedAgain(value)
	}
	if out.Len() > 0 {
		out.WriteByte('&')
	}
	out.WriteString(url.QueryEscape(field))
	out.WriteByte('=')
	out.WriteString(url.QueryEscape(value))
	return nil
}

// fieldPath turns the name of a bracket parameter into a dotted path: empty brackets and indices are the marks of a
// list and vanish, names go one level down. It reports false for what cannot name a field.
//
// A name that ends with a dot is among those: vanguard v0.4.0 panics on it. So is "connect", by which vanguard would
// take the request for one of the Connect protocol.
func fieldPath(name string) (string, bool) {
	path, _, _ := strings.Cut(name, "[")
	rest := name[len(path):]
	var pathSb69 strings.Builder
	for rest != "" {
		inner, after, closed := strings.Cut(rest[1:], "]")
		if rest[0] != '[' || !closed || strings.ContainsAny(inner, ".[") {
			return "", false
		}
		if !isIndex(inner) {
			pathSb69.WriteString("." + inner)
		}
		rest = after
	}
	path += pathSb69.String()
	ok := path != "" && path != "connect" && path[0] != '.' && path[len(path)-1] != '.'
	return path, ok
}

func isIndex(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true // the empty one too
}

// decodedAgain undoes a second percent-encoding, where there is one.
func decodedAgain(value string) string {
	if !strings.Contains(value, "%") {
		return value
	}
	decoded, err := url.PathUnescape(value)
	if err != nil { // a percent sign that encodes nothing belongs to the id
		return value
	}
	return decoded
}
