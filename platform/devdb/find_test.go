package devdb

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// machine describes the machine that a finder sees.
type machine struct {
	env    map[string]string
	path   map[string]string // name -> what lookPath returns; full paths map to themselves
	globs  map[string][]string
	runs   map[string]string // "program argument" -> output
	memory uint64
}

func (m machine) finder() finder {
	return finder{
		getenv: func(name string) string { return m.env[name] },
		lookPath: func(name string) (string, error) {
			if found, ok := m.path[name]; ok {
				return found, nil
			}
			return "", exec.ErrNotFound
		},
		glob: func(pattern string) ([]string, error) { return m.globs[pattern], nil },
		output: func(name string, args ...string) ([]byte, error) {
			if out, ok := m.runs[name+" "+strings.Join(args, " ")]; ok {
				return []byte(out), nil
			}
			return nil, exec.ErrNotFound
		},
		memory: func() uint64 { return m.memory },
	}
}

func TestCockroachNodes(t *testing.T) {
	single, regions := []string{singleNode}, nodeRegions
	data := func(name string) map[string][]string {
		path := filepath.Join("/dev", name, dataName)
		return map[string][]string{path: {path}}
	}
	nodes := func(n string) map[string]string { return map[string]string{"COCKROACH_NODES": n} }
	for name, c := range map[string]struct {
		machine machine
		want    []string
	}{
		"unknown memory":           {machine{}, regions},
		"enough memory":            {machine{memory: memoryOfNodes}, regions},
		"too little memory":        {machine{memory: memoryOfNodes - 1}, single},
		"one node":                 {machine{env: nodes("1")}, single},
		"three nodes":              {machine{env: nodes("3"), memory: 1}, regions},
		"data of one node":         {machine{env: nodes("3"), globs: data(singleNode)}, single},
		"data of nodes in regions": {machine{env: nodes("1"), globs: data(nodeRegions[0]), memory: 1}, regions},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, c.machine.finder().cockroachNodes("/dev")) })
	}
}

func TestFindCockroach(t *testing.T) {
	inPath := map[string]string{"cockroach": "/usr/bin/cockroach"}
	for name, c := range map[string]struct {
		machine machine
		want    string
	}{
		"nothing":                   {machine{}, ""},
		"path":                      {machine{path: inPath}, "/usr/bin/cockroach"},
		"variable":                  {machine{env: map[string]string{"COCKROACH_BINARY": "/opt/c"}}, "/opt/c"},
		"variable takes precedence": {machine{env: map[string]string{"COCKROACH_BINARY": "/opt/c"}, path: inPath}, "/opt/c"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, c.machine.finder().cockroach()) })
	}
}

func TestFindPostgres(t *testing.T) {
	debian := machine{
		globs: map[string][]string{"/usr/lib/postgresql/*/bin": {"/pg/9/bin", "/pg/15/bin", "/pg/17/bin", "/pg/client/bin"}},
		path: map[string]string{
			"/pg/9/bin/initdb": "x", "/pg/15/bin/initdb": "x", "/pg/17/bin/initdb": "x",
			"pg_config": "/usr/bin/pg_config",
		},
		runs: map[string]string{
			"/usr/bin/pg_config --bindir":    "/pg/15/bin\n",
			"/pg/9/bin/postgres --version":   "postgres (PostgreSQL) 9.6.24\n",
			"/pg/15/bin/postgres --version":  "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n",
			"/pg/17/bin/postgres --version":  "postgres (PostgreSQL) 17rc1\n",
			"/pg/client/bin/psql --version":  "psql (PostgreSQL) 17.1\n",
			"/pg/client/bin/postgres --help": "",
		},
	}
	require.Equal(t, []install{{"/pg/17/bin", 17}, {"/pg/15/bin", 15}, {"/pg/9/bin", 9}}, debian.finder().postgres())
	require.Empty(t, machine{}.finder().postgres())
}

func TestPickInstall(t *testing.T) {
	got, err := pickInstall(t.TempDir()+"/none", []install{{"new", 17}, {"old", 15}})
	require.NoError(t, err)
	require.Equal(t, 17, got.major, "the newest version for new data")

	data := t.TempDir()
	require.NoError(t, os.WriteFile(data+"/PG_VERSION", []byte("15\n"), 0o600))
	got, err = pickInstall(data, []install{{"new", 17}, {"old", 15}})
	require.NoError(t, err)
	require.Equal(t, 15, got.major, "the version that created the data")
}

func TestNoDatabaseListsTheOptions(t *testing.T) {
	_, err := start(t.Context(), Options{Dir: t.TempDir()}, machine{}.finder())
	require.ErrorIs(t, err, ErrNone)
	for _, way := range []string{"PLAZA_DATABASE_URL", "COCKROACH_BINARY", "PostgreSQL"} {
		require.ErrorContains(t, err, way)
	}
	require.NotContains(t, err.Error(), "\n")
}

// cutPassword returns address with a different password, and the original user and password.
func cutPassword(t *testing.T, address string) (changed, password, user string) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	password, _ = u.User.Password()
	user = u.User.Username()
	u.User = url.UserPassword(user, "wrong")
	return u.String(), password, user
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := make([]string, len(found))
	for i, e := range found {
		names[i] = e.Name()
	}
	return names
}
