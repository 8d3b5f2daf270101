package rules

import (
	"reflect"
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// walk calls visit for every node of a syntax tree, parents first. path contains the ancestors of the node, the nearest last.
// Unlike the parser's walker it visits all fields, including the SET list of ON CONFLICT and window definitions, so that no
// rule can be evaded.
func walk(root any, visit func(node any, path []any)) {
	walkValue(reflect.ValueOf(root), nil, visit)
}

func walkValue(v reflect.Value, path []any, visit func(node any, path []any)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		walkValue(v.Elem(), path, visit)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walkValue(v.Index(i), path, visit)
		}
	case reflect.Struct:
		node := address(v)
		if isLeaf(node) {
			return
		}
		visit(node, path)
		path = append(path, node)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walkValue(v.Field(i), path, visit)
			}
		}
	}
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

// contains reports whether a syntax tree has a node of a kind, with a property.
func contains[N any](root any, has func(n N) bool) bool {
	found := false
	walk(root, func(node any, _ []any) {
		n, ok := node.(N)
		found = found || ok && has(n)
	})
	return found
}

// inside reports whether an ancestor is a node of a kind.
func inside[N any](path []any) bool {
	return slices.ContainsFunc(path, func(ancestor any) bool {
		_, ok := ancestor.(N)
		return ok
	})
}
