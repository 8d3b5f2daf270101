package db

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Columns returns the columns that the fields of the struct T are scanned from, separated by commas and in the order of
// the fields, without those in except. The column of a field is its name in snake case, or its db tag.
func Columns[T any](except ...string) string {
	names := fieldColumns(reflect.TypeFor[T]())
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return slices.Contains(except, name) }), ", ")
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

func fieldColumns(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		tag := f.Tag.Get("db")
		switch {
		case f.Anonymous:
			names = append(names, fieldColumns(f.Type)...)
		case !f.IsExported() || tag == "-":
		case tag != "":
			names = append(names, tag)
		default:
			names = append(names, snakeCase(f.Name))
		}
	}
	return names
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
