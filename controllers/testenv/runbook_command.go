package testenv

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// RunbookCommand is a shell command of the runbook of an alert.
type RunbookCommand struct {
	Alert string
	Text  string
}

// Begins reports whether the first program of the command is one of these, with any arguments.
func (c RunbookCommand) Begins(programs ...string) bool {
	first, _, _ := strings.Cut(c.Text, " ")
	return slices.Contains(programs, first)
}

// RunbookCommands returns all commands of the runbooks of alerts.
func RunbookCommands(t *testing.T) []RunbookCommand {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Root(), "controllers", "monitoring", "runbooks", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no runbooks: %v", err)
	}
	var all []RunbookCommand
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		alert := strings.TrimSuffix(filepath.Base(file), ".md")
		for _, block := range regexp.MustCompile("(?s)```sh[^\n]*\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			for _, command := range splitCommands(block[1]) {
				all = append(all, RunbookCommand{alert, command})
			}
		}
	}
	return all
}

// splitCommands returns the commands of a block, without comments. A command goes on in the next line after a backslash, after a pipe,
// and within quotes.
func splitCommands(block string) []string {
	var all []string
	var command string
	for line := range strings.Lines(block) {
		if command == "" && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")) {
			continue
		}
		command += line
		end := strings.TrimSpace(line)
		if strings.HasSuffix(end, `\`) || strings.HasSuffix(end, "|") || strings.Count(command, `'`)%2 == 1 || strings.Count(command, `"`)%2 == 1 {
			continue
		}
		all, command = append(all, strings.TrimSpace(command)), ""
	}
	return append(all, strings.Fields(command)...) // nothing, unless a command is incomplete
}
