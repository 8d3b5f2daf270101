package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryMethodIsCalled checks that the program calls every method that reads or writes rows, so that it runs every
// statement: the linter finds statements that no method uses.
func TestEveryMethodIsCalled(t *testing.T) {
	declared, called := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		isStore := strings.HasPrefix(path, "../store/") && file.Name.Name != "db"
		ast.Inspect(file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil && isStore && n.Name.IsExported() {
					declared[n.Name.Name] = true
				}
			case *ast.SelectorExpr:
				called[n.Sel.Name] = true
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(declared), 300)
	maps.DeleteFunc(declared, func(name string, _ bool) bool { return called[name] })
	require.Empty(t, slices.Sorted(maps.Keys(declared)), "methods that the program does not call")
}
