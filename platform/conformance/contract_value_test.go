package conformance

import (
	"math"
	"strings"
)

// valuesAt returns the values at a path of a decoded JSON value; a path into an array selects every element.
func valuesAt(value any, path string) []any {
	found := []any{value}
	if path == "." {
		return found
	}
	for name := range strings.SplitSeq(path, ".") {
		name, each := strings.CutSuffix(name, "[]")
		var next []any
		for _, v := range found {
			inner, ok := fieldOf(v, name)
			elements, isList := inner.([]any)
			switch {
			case each && isList:
				next = append(next, elements...)
			case ok && !each:
				next = append(next, inner)
			}
		}
		found = next
	}
	return found
}

func fieldOf(value any, name string) (any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}
	inner, ok := object[name]
	return inner, ok
}

// hasType reports whether a value has one of the JSON types of the tables.
func hasType(kind string, value any) bool {
	switch v := value.(type) {
	case string:
		return kind == "s" || kind == "ts" && timePattern.MatchString(v)
	case float64:
		return kind == "n" || kind == "i" && v == math.Trunc(v)
	case bool:
		return kind == "b"
	case map[string]any:
		return kind == "o"
	case []any:
		return kind == "[]" || kind == "s[]" && allStrings(v)
	default:
		return false
	}
}

func allStrings(list []any) bool {
	for _, v := range list {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}

// isFilled reports whether a value is not empty.
func isFilled(value any) bool {
	switch v := value.(type) {
	case string:
		return v != ""
	case float64:
		return v != 0
	case bool:
		return v
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	default:
		return false
	}
}
