package rules

import (
	"reflect"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// visitor is called for every node, parents first. path contains the ancestors of the node, the nearest last. It
// reports whether to visit the children of the node.
type visitor func(node any, path []any) bool

// walk visits every node of a syntax tree. Unlike the parser's walker it visits all fields, including the SET list of
// ON CONFLICT and window definitions, so that no rule can be evaded.
func walk(root any, visit visitor) {
	w := &walker{visit: visit}
	w.value(reflect.ValueOf(root))
}

type walker struct {
	visit visitor
	path  []any
}

func (w *walker) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		w.value(v.Elem())
	case reflect.Pointer:
		w.pointer(v)
	case reflect.Struct:
		w.node(address(v), v)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	}
}

func (w *walker) pointer(v reflect.Value) {
	switch {
	case v.IsNil():
	case v.Elem().Kind() == reflect.Struct:
		w.node(v.Interface(), v.Elem())
	default:
		w.value(v.Elem())
	}
}

func (w *walker) node(node any, fields reflect.Value) {
	if isLeaf(node) || !w.visit(node, w.path) {
		return
	}
	w.path = append(w.path, node)
	for i := range fields.NumField() {
		if fields.Type().Field(i).IsExported() {
			w.value(fields.Field(i))
		}
	}
	w.path = w.path[:len(w.path)-1]
}

// isLeaf reports whether the children of a node are skipped: types, and function names, which look like columns.
func isLeaf(node any) bool {
	switch node.(type) {
	case *types.T, *tree.ResolvableFunctionReference, tree.ResolvableFunctionReference:
		return true
	}
	return false
}

// address returns a pointer to a struct value, which type switches expect.
func address(v reflect.Value) any {
	if v.CanAddr() {
		return v.Addr().Interface()
	}
	return v.Interface()
}
