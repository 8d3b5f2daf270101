// Package recipe follows the recipe of platform/RECIPE.md in a copy of the tree. Its tests check that the recipe is complete: that
// a reader who writes the files that it shows, and runs the commands that it names, has a feature that the tests accept.
package recipe

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Document is the path of the recipe.
const Document = "platform/RECIPE.md"

// Step is a section of the recipe.
type Step struct {
	Title    string
	Blocks   []Block
	Commands []string // that it says to run
	Failures []Failure
}

// Block is a part of a file that is written by hand.
type Block struct {
	Path  string
	After string // the line of the file after which the block belongs
	Whole bool   // whether the block is a new file; without it and After, the block belongs at the end of the file
	Text  string
}

// Failure is what fails without a step, or without one line of its blocks.
type Failure struct {
	Line    string
	Command string
	Quote   string // what the output contains
}

// The sentences of the recipe that say what to do with the block that follows them, and what a failure without it is.
var (
	create   = regexp.MustCompile("(?s)^Create `([^`]+)`:$")
	atTheEnd = regexp.MustCompile("(?s)^Append to `([^`]+)`:$")
	afterOne = regexp.MustCompile("(?s)^In `([^`]+)`, after the line\\s`([^`]+)`:$")
	without  = regexp.MustCompile("(?s)^Without (?:this step|the line `([^`]+)`), `([^`]+)` fails:\\s`([^`]+)`\\.$")
)

// Parse returns the steps of a recipe.
func Parse(markdown string) ([]Step, error) {
	var steps []Step
	paragraph := ""
	for lines := strings.Split(markdown, "\n"); len(lines) > 0; lines = lines[1:] {
		line := lines[0]
		title, isTitle := strings.CutPrefix(line, "## ")
		switch {
		case isTitle:
			steps, paragraph = append(steps, Step{Title: title}), ""
		case len(steps) == 0 || line == "":
		case strings.HasPrefix(line, "```"):
			end := slices.Index(lines[1:], "```")
			if end < 0 {
				return nil, fmt.Errorf("%s: a block does not end", line)
			}
			block := lines[1 : 1+end]
			lines = lines[1+end:]
			if err := steps[len(steps)-1].add(paragraph, strings.TrimPrefix(line, "```"), block); err != nil {
				return nil, err
			}
			paragraph = ""
		default:
			paragraph = strings.TrimPrefix(paragraph+"\n"+line, "\n")
			if len(lines) > 1 && lines[1] != "" {
				continue
			}
			if m := without.FindStringSubmatch(paragraph); m != nil {
				last := &steps[len(steps)-1]
				last.Failures = append(last.Failures, Failure{Line: m[1], Command: m[2], Quote: m[3]})
			} else if strings.HasPrefix(paragraph, "Without ") {
				return nil, fmt.Errorf("%q does not say which command fails, and how", paragraph)
			}
			if len(lines) > 2 && !strings.HasPrefix(lines[2], "```") {
				paragraph = ""
			}
		}
	}
	return steps, nil
}

// add adds a fenced block after a paragraph.
func (s *Step) add(paragraph, language string, lines []string) error {
	if language == "sh" {
		s.Commands = append(s.Commands, lines...)
		return nil
	}
	b := Block{Text: strings.Join(lines, "\n") + "\n"}
	if m := create.FindStringSubmatch(paragraph); m != nil {
		b.Path, b.Whole = m[1], true
	} else if m := atTheEnd.FindStringSubmatch(paragraph); m != nil {
		b.Path = m[1]
	} else if m := afterOne.FindStringSubmatch(paragraph); m != nil {
		b.Path, b.After = m[1], m[2]
	} else {
		return fmt.Errorf("%q does not say where the block after it belongs", paragraph)
	}
	s.Blocks = append(s.Blocks, b)
	return nil
}

// Paths returns the files that the steps change or create.
func Paths(steps []Step) []string {
	var paths []string
	for _, s := range steps {
		for _, b := range s.Blocks {
			paths = append(paths, b.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Write writes the block into its file below root.
func (b Block) Write(root string) error {
	path := filepath.Join(root, filepath.FromSlash(b.Path))
	before, err := os.ReadFile(path)
	switch {
	case b.Whole && err == nil:
		return fmt.Errorf("%s exists already", b.Path)
	case b.Whole:
		return os.WriteFile(path, []byte(b.Text), 0o600)
	case err != nil:
		return err
	case b.After == "":
		return os.WriteFile(path, append(before, b.Text...), 0o600)
	}
	lines := strings.SplitAfter(string(before), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) == b.After })
	if at < 0 {
		return fmt.Errorf("%s has no line %s", b.Path, b.After)
	}
	return os.WriteFile(path, []byte(strings.Join(slices.Insert(lines, at+1, b.Text), "")), 0o600)
}
