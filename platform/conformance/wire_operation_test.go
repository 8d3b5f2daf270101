package conformance

import (
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// operationsFile lists the operations that public clients and public documents of the interface know.
//
//go:embed testdata/operations.txt
var operationsFile string

// absentFile lists the operations of operationsFile that Plaza does not serve.
//
//go:embed testdata/operations_absent.txt
var absentFile string

// operationsOf returns the operations that a file lists, such as "GET /api/v3/users/{userId}".
func operationsOf(file string) []string {
	return slices.DeleteFunc(strings.Split(file, "\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "#") })
}

// servedAs returns the name in the API document of a listed operation, and "" if no path is routed to it.
func (d *apiDocument) servedAs(operation string) string {
	verb, path, _ := strings.Cut(operation, " ")
	sample := strings.ReplaceAll(withoutParameterNames(path), "{}", "x")
	template := d.template(sample)
	if template == "" || d.at("paths", template, strings.ToLower(verb)) == nil {
		return ""
	}
	return verb + " " + template
}

// TestListedOperationsAreServed compares the list with the API document: what is not served must be known to be absent.
func TestListedOperationsAreServed(t *testing.T) {
	t.Parallel()
	list := operationsOf(operationsFile)
	require.Greater(t, len(list), 266, "the public document alone has that many")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(list))), len(list))
	served := func(operation string) bool { return apiDoc.servedAs(operation) != "" }
	require.ElementsMatch(t, operationsOf(absentFile), slices.DeleteFunc(slices.Clone(list), served), "testdata/operations_absent.txt")
}

// TestListedOperationsRefuse calls every listed operation without credentials. Those that everyone may call are the exceptions.
func TestListedOperationsRefuse(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	for _, operation := range operationsOf(operationsFile) {
		served := apiDoc.servedAs(operation)
		if served == "" {
			continue
		}
		verb, path, _ := strings.Cut(served, " ")
		t.Run(operation, func(t *testing.T) {
			path := strings.ReplaceAll(withoutParameterNames(path), "{}", unknownID)
			answer := g.principals[anonymous].Do(t, verb, path, nil)
			want := http.StatusUnauthorized
			if path == "/api/v3/files/"+unknownID+"/download" {
				want = http.StatusNotFound // public files require no credentials
			}
			require.Equal(t, want, answer.Status, answer.Short())
		})
	}
}

// reportOperations prints how many of the listed operations were served, with a success and with a refusal, and returns the
// exit code: code, or 1 if the whole suite ran and left one out.
func (d *apiDocument) reportOperations(code int) int {
	list := operationsOf(operationsFile)
	served := slices.DeleteFunc(slices.Clone(list), func(operation string) bool { return d.servedAs(operation) == "" })
	left := slices.DeleteFunc(slices.Clone(served), func(operation string) bool {
		name := d.servedAs(operation)
		return d.successes(name) > 0 && d.refusals(name) > 0
	})
	fmt.Printf("operations of the public interface: %d of %d served, %d of them with a success and a refusal\n", len(served), len(list),
		len(served)-len(left))
	if code != 0 || !isWholeSuite() {
		return code
	}
	for _, operation := range left {
		fmt.Fprintln(os.Stderr, "FAIL: no test has both a success and a refusal of", operation)
		code = 1
	}
	return code
}
