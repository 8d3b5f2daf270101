package testenv

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Commands returns the shell commands of a runbook in controllers below fences such as ```sh evacuate, where part is the word after
// sh.
func Commands(t *testing.T, file, part string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "controllers", file))
	if err != nil {
		t.Fatal(err)
	}
	var commands strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^( *)```sh "+part+"\n(.*?)^ *```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[2]) {
			commands.WriteString(strings.TrimPrefix(line, block[1]))
		}
	}
	if commands.Len() == 0 {
		t.Fatalf("%s has no commands of %s", file, part)
	}
	return commands.String()
}
