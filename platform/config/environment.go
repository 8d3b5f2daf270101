package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// envPrefix is the beginning of the names of all variables.
const envPrefix = "PLAZA_"

// testPrefix is the beginning of the names of variables that configure tests.
const testPrefix = envPrefix + "TEST_"

// CheckEnvironment returns an error for a variable PLAZA_… that is no setting, such as one with a typing error, which
// would otherwise be ignored. environ is that of os.Environ. The variables with which Kubernetes describes a Service
// whose name starts with plaza- are accepted. The error is an *Error.
func CheckEnvironment(environ []string) error {
	names := make([]string, 0, len(environ))
	for _, variable := range environ {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, envPrefix) && !strings.HasPrefix(name, testPrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	known := knownVariables()
	for _, name := range names {
		if !known[name] && !isServiceLink(name, names) {
			return &Error{Source: name, Reason: "is not a setting" + suggestion(name, known)}
		}
	}
	return nil
}

func knownVariables() map[string]bool {
	names := map[string]bool{envName(FileFlag): true}
	for name := range knownNames() {
		names[envName(name)] = true
	}
	return names
}

// serviceLink matches the variables of a Service after its name.
var serviceLink = regexp.MustCompile(`^(.+?)_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// isServiceLink reports whether name is one of the variables of a Service, whose host is always among them.
func isServiceLink(name string, all []string) bool {
	match := serviceLink.FindStringSubmatch(name)
	return len(match) > 0 && slices.Contains(all, match[1]+"_SERVICE_HOST")
}

// maxTypos is the number of typing errors up to which a name is similar to another one.
const maxTypos = 3

// suggestion names the settings that the name is most similar to.
func suggestion(name string, known map[string]bool) string {
	nearest, fewest := []string(nil), maxTypos
	for _, other := range slices.Sorted(maps.Keys(known)) {
		switch typos := distance(name, other); {
		case typos < fewest || typos == fewest && nearest == nil:
			nearest, fewest = []string{other}, typos
		case typos == fewest:
			nearest = append(nearest, other)
		}
	}
	if nearest == nil {
		return "; plaza config --markdown lists all"
	}
	return fmt.Sprintf("; did you mean %s?", strings.Join(nearest, " or "))
}

// distance returns the number of characters to insert, delete or replace to get from a to b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
