package devdb

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// finder looks for databases. Its functions are fields so that tests can simulate other machines.
type finder struct {
	getenv   func(string) string
	lookPath func(string) (string, error)
	glob     func(string) ([]string, error)
	output   func(name string, args ...string) ([]byte, error)
	memory   func() uint64 // available memory in bytes; 0 if unknown
}

func systemFinder() finder {
	return finder{
		getenv:   os.Getenv,
		lookPath: exec.LookPath,
		glob:     filepath.Glob,
		output:   func(name string, args ...string) ([]byte, error) { return exec.Command(name, args...).Output() },
		memory:   availableMemory,
	}
}

var memAvailable = regexp.MustCompile(`(?m)^MemAvailable:\s+(\d+) kB$`)

// availableMemory returns the memory that programs can use on Linux.
func availableMemory() uint64 {
	text, err := os.ReadFile("/proc/meminfo")
	match := memAvailable.FindSubmatch(text)
	if err != nil || match == nil {
		return 0
	}
	kilobytes, _ := strconv.ParseUint(string(match[1]), 10, 64)
	return kilobytes << 10
}

// cockroachNodes returns the names of the nodes to start in folder: those that have data there, else as many as
// COCKROACH_NODES says (1 or 3), else as many as the memory allows.
func (f finder) cockroachNodes(folder string) []string {
	has := func(name string) bool {
		found, _ := f.glob(filepath.Join(folder, name, dataName)) // fails only for malformed patterns
		return len(found) > 0
	}
	memory := f.memory()
	switch nodes := f.getenv("COCKROACH_NODES"); {
	case has(singleNode):
		return []string{singleNode}
	case has(nodeRegions[0]), nodes == "3":
		return nodeRegions
	case nodes == "1", memory > 0 && memory < memoryOfNodes:
		return []string{singleNode}
	}
	return nodeRegions
}

// cockroach returns the path of cockroach, or "".
func (f finder) cockroach() string {
	if binary := f.getenv("COCKROACH_BINARY"); binary != "" {
		return binary
	}
	binary, err := f.lookPath("cockroach")
	if err != nil {
		return ""
	}
	return binary
}

// postgresFolders are the directories in which packages install the server programs; PATH often contains only the
// clients, or wrappers that manage their own clusters.
var postgresFolders = []string{
	"/usr/lib/postgresql/*/bin",                   // Debian and derivatives
	"/usr/pgsql-*/bin",                            // packages of postgresql.org for Red Hat and derivatives
	"/opt/homebrew/opt/postgresql@*/bin",          // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",             // Homebrew on Intel
	"/Applications/Postgres.app/*/Versions/*/bin", // Postgres.app
}

// install is one version of the PostgreSQL server programs.
type install struct {
	bin   string // directory of initdb and postgres
	major int
}

// postgres returns the installs on this machine, newest first.
func (f finder) postgres() []install {
	var installs []install
	for _, bin := range f.postgresBins() {
		known := slices.ContainsFunc(installs, func(i install) bool { return i.bin == bin })
		if major := f.majorVersion(bin); major > 0 && !known {
			installs = append(installs, install{bin: bin, major: major})
		}
	}
	slices.SortStableFunc(installs, func(a, b install) int { return cmp.Compare(b.major, a.major) })
	return installs
}

func (f finder) postgresBins() []string {
	var bins []string
	for _, pattern := range postgresFolders {
		found, _ := f.glob(pattern) // fails only for malformed patterns
		bins = append(bins, found...)
	}
	if config, err := f.lookPath("pg_config"); err == nil {
		if out, err := f.output(config, "--bindir"); err == nil {
			bins = append(bins, strings.TrimSpace(string(out)))
		}
	}
	if postgres, err := f.lookPath("postgres"); err == nil {
		// initdb finds its share directory relative to its own path, so links in PATH must be resolved.
		if program, err := filepath.EvalSymlinks(postgres); err == nil {
			bins = append(bins, filepath.Dir(program))
		}
	}
	return bins
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// majorVersion returns the version of the programs in bin; 0 if initdb or postgres is missing.
func (f finder) majorVersion(bin string) int {
	if _, err := f.lookPath(filepath.Join(bin, "initdb")); err != nil {
		return 0
	}
	out, err := f.output(filepath.Join(bin, "postgres"), "--version")
	if err != nil {
		return 0
	}
	match := versionPattern.FindSubmatch(out)
	if match == nil {
		return 0
	}
	major, _ := strconv.Atoi(string(match[1]))
	return major
}

// PostgresProgram returns the path of a program of the newest PostgreSQL on this machine, such as pg_dump.
func PostgresProgram(name string) (string, error) {
	f := systemFinder()
	for _, found := range f.postgres() {
		if path, err := f.lookPath(filepath.Join(found.bin, name)); err == nil {
			return path, nil
		}
	}
	if path, err := f.lookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s not found: install the client programs of PostgreSQL", name)
}
