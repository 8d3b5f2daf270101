// Package platform_test holds the order of the layers that README.md describes, and the sizes of packages.
package platform_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/plaza-social/plaza/"

// layer is a set of packages, which may import those of the layers below. An exact path has precedence over a pattern.
type layer struct {
	name     string
	packages []string
	within   bool // they may also import each other
}

// layers are the layers from top to bottom.
var layers = []layer{
	{"programs and black-box tests", []string{
		"bench", "cmd/*", "conformance", "faults", "faults/proxy", "hostile", "observed",
	}, false},
	{"harness", []string{"apptest"}, false},
	{"assembly", []string{"app"}, false},
	{"streams of bytes", []string{"edge/transfer"}, false},
	{"edge", []string{"apidoc", "edge", "edge/realtime", "idempotency"}, false},
	{"nouns", []string{"service/*"}, false},
	{"rules of several nouns", []string{"service/internal/*", "service/internal/live/livetest"}, true},
	{"what every noun needs", []string{"service"}, false},
	{"views and deliveries", []string{"delivery", "view"}, false},
	{"events and ids", []string{"directory", "events"}, false},
	{"store", []string{"store", "store/db/dbtest"}, false},
	{"statements of many tables", []string{"store/lifecycle"}, false},
	{"statements of the network", []string{"store/network"}, false},
	{"statements of streams and notices", []string{"store/media", "store/notify"}, false},
	{"statements of messages", []string{"store/messaging"}, false},
	{"statements of content", []string{"store/content"}, false},
	{"statements of people and events", []string{"store/eventlog", "store/people"}, false},
	{"statements of communities", []string{"store/communities"}, false},
	{"statements of words", []string{"store/textsearch"}, false},
	{"what all statements need", []string{"store/core"}, false},
	{"engine", []string{"store/db"}, false},
	{"database of development", []string{"devdb", "devdb/testdb"}, true},
	{"parts", []string{
		"auth", "backup", "config", "freeform", "jobs", "page", "picture", "push", "storage", "textfilter", "tracing", "webpage",
	}, false},
	{"tools", []string{"publicnet", "ratelimit", "seal", "telemetry"}, false},
	{"leaves", []string{
		"budget", "control", "dburl", "defence", "fail", "fairqueue", "groupcommit", "limits", "loopback", "narrow", "region", "span",
		"statusz", "store/migrations",
	}, false},
}

// layerOf returns the position of the layer of a package.
func layerOf(pkg string) (int, bool) {
	for i, l := range layers {
		if slices.Contains(l.packages, pkg) {
			return i, true
		}
	}
	for i, l := range layers {
		for _, pattern := range l.packages {
			if ok, _ := path.Match(pattern, pkg); ok {
				return i, true
			}
		}
	}
	return 0, false
}

// TestLayers checks that imports point downwards only.
func TestLayers(t *testing.T) {
	t.Parallel()
	folders := read(t, ".")
	for _, pkg := range slices.Sorted(maps.Keys(folders)) {
		at, ok := layerOf(pkg)
		require.True(t, ok, "%s is in no layer", pkg)
		for imported := range folders[pkg].imports {
			below, inPlatform := strings.CutPrefix(imported, module+"platform/")
			if !inPlatform {
				require.Truef(t, strings.HasPrefix(imported, module+"proto/"), "%s imports %s", pkg, imported)
				continue
			}
			to, _ := layerOf(below)
			allowed := to > at || to == at && layers[at].within
			require.Truef(t, allowed, "%s (%s) imports %s (%s)", pkg, layers[at].name, below, layers[to].name)
		}
	}
}

const (
	maxFiles    = 40
	maxExported = 120
	maxLoose    = 8
	// folderOfPackages is the number of packages from which a folder is one of packages, whose own files should be few.
	folderOfPackages = 4
)

// large are the packages that exceed a limit.
var large = map[string]string{
	"auth":     "a third of the names are those of permissions",
	"store/db": "the parts of a batch use each other",
}

// TestSizes checks that a stranger can survey each package.
func TestSizes(t *testing.T) {
	t.Parallel()
	folders := read(t, ".")
	exceeds := func(pkg string, f *folder) bool {
		below := 0
		for other := range folders {
			if path.Dir(other) == pkg {
				below++
			}
		}
		return f.files > maxFiles || f.exported > maxExported || below >= folderOfPackages && f.files > maxLoose
	}
	for pkg, f := range folders {
		require.Equalf(t, large[pkg] != "", exceeds(pkg, f), "%s has %d files and %d exported names", pkg, f.files, f.exported)
	}
}

// folder is what the Go files of a folder, except tests, contain.
type folder struct {
	files    int
	exported int
	imports  map[string]bool // of packages of this module
}

// read reads the packages below a folder.
func read(t *testing.T, root string) map[string]*folder {
	t.Helper()
	folders := map[string]*folder{}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		pkg := path.Dir(name)
		if folders[pkg] == nil {
			folders[pkg] = &folder{imports: map[string]bool{}}
		}
		return folders[pkg].add(filepath.Join(root, name))
	}))
	return folders
}

func (f *folder) add(name string) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f.files++
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if strings.HasPrefix(imported, module) {
			f.imports[imported] = true
		}
	}
	for _, declared := range file.Decls {
		f.exported += exportedIn(declared)
	}
	return nil
}

// exportedIn returns the number of exported names of the package that a declaration declares.
func exportedIn(declared ast.Decl) int {
	n := 0
	count := func(name *ast.Ident) {
		if name.IsExported() {
			n++
		}
	}
	switch d := declared.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			count(d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				count(s.Name)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					count(name)
				}
			}
		}
	}
	return n
}
