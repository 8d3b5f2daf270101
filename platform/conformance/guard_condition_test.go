package conformance

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// condition is a call in the code of the platform that makes a transaction fail if something does not hold when it commits: a guard,
// or the error of a violated constraint.
type condition struct {
	name        string // its function and what it calls, such as "service/post.changeFlags GuardPost"
	file        string // such as "service/post/flag.go"
	first, last int    // lines
}

// covers reports whether the call is at a place such as "service/post/flag.go:37".
func (c condition) covers(place string) bool {
	file, line, _ := strings.Cut(place, ":")
	n, err := strconv.Atoi(line)
	return err == nil && file == c.file && n >= c.first && n <= c.last
}

// conditionsOf returns every condition of the platform, from its source files.
func conditionsOf(t *testing.T) []condition {
	t.Helper()
	var all []condition
	const root = ".."
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name == "store/db"):
			return fs.SkipDir // the engine passes on the conditions of others
		case filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
			all = append(all, conditionsIn(t, file, name)...)
		}
		return nil
	}))
	slices.SortFunc(all, func(a, b condition) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.first, b.first)) })
	return numbered(all)
}

// conditionsIn returns the conditions in a file.
func conditionsIn(t *testing.T, file, name string) []condition {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, 0)
	require.NoError(t, err)
	var all []condition
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && nameOfCondition(call) != "" {
				all = append(all, condition{
					name: fmt.Sprintf("%s.%s %s", path.Dir(name), f.Name.Name, nameOfCondition(call)), file: name,
					first: files.Position(call.Pos()).Line, last: files.Position(call.End()).Line,
				})
			}
			return true
		})
	}
	return all
}

// nameOfCondition returns what a call makes a condition: the method, or the statement or constraint that it names. It is empty for
// other calls.
func nameOfCondition(call *ast.CallExpr) string {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 || method.Sel.Name != "OnConflict" && !strings.HasPrefix(method.Sel.Name, "Guard") {
		return ""
	}
	switch first := call.Args[0].(type) {
	case *ast.BasicLit:
		if first.Kind == token.STRING && method.Sel.Name == "OnConflict" {
			return strings.Trim(first.Value, `"`)
		}
	case *ast.Ident:
		if strings.HasPrefix(first.Name, "sql") {
			return first.Name
		}
	case *ast.SelectorExpr: // a statement of another package
		if method.Sel.Name == "Guard" {
			return first.Sel.Name
		}
	}
	return method.Sel.Name
}

// numbered adds a number to the names of the second and further conditions of a function with the same name.
func numbered(all []condition) []condition {
	times := map[string]int{}
	for i := range all {
		name := all[i].name
		if times[name]++; times[name] > 1 {
			all[i].name = fmt.Sprint(name, " ", times[name])
		}
	}
	return all
}
