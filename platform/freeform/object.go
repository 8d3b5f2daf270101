package freeform

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// Object is a JSON object. nil is the empty object.
type Object []byte

// isEmpty reports whether the object has no members. Rows and requests have no spaces in empty objects.
func (o Object) isEmpty() bool { return len(o) <= len("{}") }

// isValid reports whether the object is JSON, and an object.
func (o Object) isValid() bool {
	return gjson.ValidBytes(o) && bytes.HasPrefix(bytes.TrimLeft(o, " \t\r\n"), []byte("{"))
}

// Row returns the JSON of the object for a row.
func (o Object) Row() []byte {
	if o.isEmpty() {
		return []byte("{}")
	}
	return o
}

// Append appends the JSON of the object, which must be valid, to b without spaces. The order of the names and the digits of numbers
// stay as they are.
func (o Object) Append(b []byte) []byte {
	row := o.Row()
	if cap(b)-len(b) < len(row) {
		b = slices.Grow(b, max(len(b), len(row))) // which doubles it at least, so that many objects do not copy it often
	}
	for len(row) > 0 {
		text := bytes.IndexByte(row, '"')
		if text < 0 {
			text = len(row)
		}
		b = appendWithoutSpaces(b, row[:text])
		end := text + textLength(row[text:])
		b, row = append(b, row[text:end]...), row[end:]
	}
	return b
}

// appendWithoutSpaces appends JSON without texts.
func appendWithoutSpaces(b, row []byte) []byte {
	for _, c := range row {
		if c > ' ' {
			b = append(b, c)
		}
	}
	return b
}

// textLength returns the length of the JSON string at the beginning of b, with its quotes; 0 for no bytes.
func textLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// Member returns the JSON of a member, nil if there is none.
func (o Object) Member(name string) json.RawMessage {
	if found := gjson.GetBytes(o, gjson.Escape(name)); found.Exists() {
		return json.RawMessage(found.Raw)
	}
	return nil
}

// Text returns the text at a path of names, empty if there is none.
func (o Object) Text(path ...string) string {
	at := json.RawMessage(o)
	for _, name := range path {
		at = Object(at).Member(name)
	}
	return TextOf(at)
}

// TextOf returns the text of a JSON string, and the empty text for other JSON.
func TextOf(value json.RawMessage) string {
	if IsText(value) {
		return gjson.ParseBytes(value).String()
	}
	return ""
}

// IsText reports whether JSON is a string.
func IsText(value json.RawMessage) bool { return len(value) > 0 && value[0] == '"' }

// ListOf returns the elements of a JSON list, nil for other JSON.
func ListOf(value json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if parsed := gjson.ParseBytes(value); parsed.IsArray() {
		parsed.ForEach(func(_, element gjson.Result) bool {
			list = append(list, json.RawMessage(element.Raw))
			return true
		})
	}
	return list
}

// Quote returns the JSON of a text.
func Quote(text string) json.RawMessage {
	quoted, _ := jsontext.AppendQuote(nil, text) // replaces what is not UTF-8
	return quoted
}

// With returns an object with a member at its end, which replaces one of the same name.
func (o Object) With(name string, value json.RawMessage) Object {
	key := Quote(name)
	with := make(Object, 0, len(o)+len(key)+len(value)+len(`{:}`))
	with = append(o.without(with, name), key...)
	return append(append(append(with, ':'), value...), '}')
}

// Without returns an object without a member.
func (o Object) Without(name string) Object {
	if o.Member(name) == nil {
		return o
	}
	rest := o.without(make(Object, 0, len(o)), name)
	return append(bytes.TrimSuffix(rest, []byte(",")), '}')
}

// without appends the beginning of an object with the members of o except one, each with a comma.
func (o Object) without(b Object, except string) Object {
	b = append(b, '{')
	gjson.ParseBytes(o).ForEach(func(key, value gjson.Result) bool {
		if key.String() != except {
			b = append(append(append(append(b, key.Raw...), ':'), value.Raw...), ',')
		}
		return true
	})
	return b
}

// Texts returns all texts in the values of the object, at any depth.
func (o Object) Texts() []string { return textsIn(nil, gjson.ParseBytes(o)) }

func textsIn(texts []string, value gjson.Result) []string {
	switch value.Type {
	case gjson.String:
		return append(texts, value.String())
	case gjson.JSON:
		value.ForEach(func(_, inner gjson.Result) bool {
			texts = textsIn(texts, inner)
			return true
		})
	}
	return texts
}

// Size returns the size of an object in bytes, as it is stored, without the members that are texts with one of the given names.
func (o Object) Size(except ...string) int {
	left := o
	for _, name := range except {
		if IsText(left.Member(name)) {
			left = left.Without(name)
		}
	}
	return len(left.Row())
}
