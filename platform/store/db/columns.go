package db

import (
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Columns returns the columns that the fields of the struct T are scanned from, separated by commas and in the order of
// the fields, without those in except. The column of a field is its name in snake case, or its db tag.
func Columns[T any](except ...string) string {
	return list[T](except, func(c column) string { return c.name })
}

// Zeros returns a value for each column that Columns returns: NULL if the field can hold it, and the zero value otherwise. It
// panics if the field is of a type that no row has.
func Zeros[T any](except ...string) string {
	return list[T](except, column.zero)
}

func list[T any](except []string, text func(column) string) string {
	var texts []string
	for _, c := range fieldColumns(reflect.TypeFor[T]()) {
		if !slices.Contains(except, c.name) {
			texts = append(texts, text(c))
		}
	}
	return strings.Join(texts, ", ")
}

// Without returns columns with NULL of a type in place of some: those of content that an operation does not need.
func Without(columns string, types map[string]string) string {
	names := strings.Split(columns, ", ")
	for i, name := range names {
		if kind := types[name]; kind != "" {
			names[i] = "NULL::" + kind
		}
	}
	return strings.Join(names, ", ")
}

// column is the column of a field.
type column struct {
	name string
	of   reflect.Type
}

func (c column) zero() string {
	switch {
	case c.of.Kind() == reflect.Slice || c.of.Kind() == reflect.Pointer:
		return "NULL"
	case c.of == reflect.TypeFor[time.Time]():
		return "'0001-01-01 00:00:00+00'::timestamptz"
	}
	value, ok := map[reflect.Kind]string{reflect.String: "''::text", reflect.Bool: "false", reflect.Int64: "0::bigint"}[c.of.Kind()]
	if !ok {
		panic("db: no zero value of " + c.of.String())
	}
	return value
}

func fieldColumns(t reflect.Type) []column {
	var columns []column
	for f := range t.Fields() {
		tag := f.Tag.Get("db")
		switch {
		case f.Anonymous:
			columns = append(columns, fieldColumns(f.Type)...)
		case !f.IsExported() || tag == "-":
		case tag != "":
			columns = append(columns, column{tag, f.Type})
		default:
			columns = append(columns, column{snakeCase(f.Name), f.Type})
		}
	}
	return columns
}

// snakeCase converts a Go name such as AvatarFileID or ChildIDs.
func snakeCase(name string) string {
	runes := []rune(strings.ReplaceAll(name, "IDs", "Ids"))
	var b strings.Builder
	for i, r := range runes {
		startsWord := i > 0 && unicode.IsUpper(r) &&
			(unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Prefixed qualifies columns by a table.
func Prefixed(table, columns string) string {
	names := strings.Split(columns, ",")
	for i, name := range names {
		names[i] = table + "." + strings.TrimSpace(name)
	}
	return strings.Join(names, ", ")
}
