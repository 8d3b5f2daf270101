package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// rows returns the names of the limit's rows.
func (l *contractLimit) rows() []string {
	if l.Apart != "" {
		return nil
	}
	if l.Of == "flags" {
		return []string{l.accepted("the last one"), l.refused("one more")}
	}
	var names []string
	for _, edge := range l.Edge {
		names = append(names, l.accepted(edge))
	}
	for _, past := range l.Past {
		names = append(names, l.refused(past))
	}
	return names
}

func (l *contractLimit) accepted(value any) string {
	return fmt.Sprint(l.Name, ": ", value, " accepted")
}

func (l *contractLimit) refused(value any) string { return fmt.Sprint(l.Name, ": ", value, " refused") }

func (v *contractCoverage) seeLimit(l *contractLimit, x decodedExchange) {
	method, template, _ := strings.Cut(l.Call, " ")
	path, ok := matchTemplate(template, x.Path)
	switch {
	case !ok || method != x.Method:
	case l.Of == "flags":
		v.seeFlags(l, x)
	case l.Of == "file":
		v.seeFile(l, x)
	default:
		value, ok := l.measure(x, path)
		if !ok {
			return
		}
		if l.refuses(x) {
			v.see(kindLimits, l.refused(value))
		} else if l.accepts(x) {
			v.see(kindLimits, l.accepted(value))
		}
	}
}

// refuses reports whether the answer says that the limit is exceeded.
func (l *contractLimit) refuses(x decodedExchange) bool {
	return x.Status == http.StatusUnprocessableEntity && strings.Contains(string(x.Body), l.Says)
}

// accepts reports whether the value was accepted. The resource that it names need not exist.
func (l *contractLimit) accepts(x decodedExchange) bool {
	switch x.Status {
	case http.StatusOK, http.StatusNotFound:
		return true
	default:
		return l.Says != "" && x.Status == http.StatusUnprocessableEntity // another parameter is invalid
	}
}

// measure returns the value of the limit's parameter in a request.
func (l *contractLimit) measure(x decodedExchange, path map[string]string) (int64, bool) {
	if l.Path != "" {
		text, err := url.PathUnescape(path[l.Path])
		return int64(utf8.RuneCountInString(text)), err == nil
	}
	if l.Body != "" {
		return l.measureBody(x)
	}
	var values []string
	for name, sent := range x.query {
		if plain, _, _ := strings.Cut(name, "["); plain == l.Query {
			values = append(values, sent...)
		}
	}
	switch {
	case len(values) == 0:
		return 0, false
	case l.Of == "number":
		n, err := strconv.ParseInt(values[0], 10, 64)
		return n, err == nil
	case l.Of == "length":
		return int64(utf8.RuneCountInString(values[0])), true
	default:
		return int64(len(values)), true
	}
}

// measureBody returns the value of a limit on a part of the body.
func (l *contractLimit) measureBody(x decodedExchange) (int64, bool) {
	parts := valuesAt(x.sent, l.Body)
	if len(parts) != 1 || l.When != "" && !slices.Equal(valuesAt(x.sent, "dataType"), []any{l.When}) {
		return 0, false
	}
	if text, isText := parts[0].(string); l.Of == "length" {
		return int64(utf8.RuneCountInString(text)), isText
	}
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(parts[0])
	return int64(len(bytes.TrimSpace(raw.Bytes()))), err == nil
}

// seeFile takes the size of a file from the answer, because the tests do not keep a body of that size. A refused
// file counts as one byte past the limit that the refusal names, because the server does not read on.
func (v *contractCoverage) seeFile(l *contractLimit, x decodedExchange) {
	if x.Status == http.StatusRequestEntityTooLarge && strings.Contains(string(x.Body), l.Says) {
		v.see(kindLimits, l.refused(l.Past[0]))
	}
	list, _ := x.answer.([]any)
	for _, element := range list {
		for _, size := range valuesAt(element, "attributes.size") {
			if n, ok := size.(float64); ok && slices.Contains(l.Edge, int64(n)) {
				v.see(kindLimits, l.accepted(int64(n)))
			}
		}
	}
}

// seeFlags records refusals of a flag on content that was flagged before.
func (v *contractCoverage) seeFlags(l *contractLimit, x decodedExchange) {
	for _, name := range []string{"posts", "comments"} {
		if counts := valuesAt(x.answer, name+"[].flagCount"); len(counts) == 1 {
			if n, ok := counts[0].(float64); ok && strings.Contains(l.Call, name) {
				v.flags[x.Path] = int64(n)
			}
		}
	}
	exceeded := contractError{Status: http.StatusForbidden, Code: 400300, Message: "Number of flag already exceed."}
	if exceeded.isShownBy(x) && v.flags[x.Path] > 0 {
		v.see(kindLimits, l.accepted("the last one"))
		v.see(kindLimits, l.refused("one more"))
	}
}
