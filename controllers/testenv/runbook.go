package testenv

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Commands returns the shell commands of a runbook in controllers below fences such as ```sh evacuate, where part is the word after
// sh.
func Commands(t *testing.T, file, part string) string {
	t.Helper()
	commands := strings.Join(blocks(t, file, part), "")
	if commands == "" {
		t.Fatalf("%s has no commands of %s", file, part)
	}
	return commands
}

// blocks returns the blocks of shell commands in a file of the folder controllers whose fences have a word that matches part.
func blocks(t *testing.T, file, part string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "controllers", file))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, block := range regexp.MustCompile("(?ms)^( *)```sh *"+part+"\n(.*?)^ *```").FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.ReplaceAll("\n"+block[2], "\n"+block[1], "\n")[1:])
	}
	return all
}

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
	folder := filepath.Join("monitoring", "runbooks")
	files, err := os.ReadDir(filepath.Join(Root(), "controllers", folder))
	if err != nil {
		t.Fatal(err)
	}
	var all []RunbookCommand
	for _, file := range files {
		for _, block := range blocks(t, filepath.Join(folder, file.Name()), "[^\n]*") {
			for _, command := range splitCommands(block) {
				all = append(all, RunbookCommand{strings.TrimSuffix(file.Name(), ".md"), command})
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
		if strings.HasSuffix(end, `\`) || strings.HasSuffix(end, "|") || strings.Count(command, `'`)%2 == 1 ||
			strings.Count(command, `"`)%2 == 1 {
			continue
		}
		all, command = append(all, strings.TrimSpace(command)), ""
	}
	return append(all, strings.Fields(command)...) // nothing, unless a command is incomplete
}
