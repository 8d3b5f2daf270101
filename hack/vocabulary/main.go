// Vocabulary reports phrases that the project does not use, in Go comments and strings, in the comments of proto, SQL, YAML
// and shell files and in Markdown, with what to write instead:
//
//	go run ./hack/vocabulary [folder or file …]
//
// It exits with 1 if it found any, and prints their number per folder. Generated code and test data are skipped.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed phrases.txt
var phraseFile string

func main() {
	roots := os.Args[1:]
	if len(roots) == 0 {
		roots = []string{"."}
	}
	phrases, err := parsePhrases(phraseFile)
	counts := map[string]int{}
	for _, root := range roots {
		err = errors.Join(err, check(root, phrases, func(f finding) {
			counts[filepath.Dir(f.file)]++
			fmt.Println(f)
		}))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "vocabulary:", err)
		os.Exit(2)
	}
	for _, folder := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(os.Stderr, "%5d %s\n", counts[folder], folder)
	}
	os.Exit(min(1, len(counts)))
}

// phrase is an expression and what to write instead.
type phrase struct {
	*regexp.Regexp
	instead string
}

func parsePhrases(text string) ([]phrase, error) {
	var all []phrase
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		expression, instead, ok := strings.Cut(line, " => ")
		if !ok {
			return nil, fmt.Errorf("%q has no =>", line)
		}
		r, err := regexp.Compile(`(?i)\b(?:` + strings.ReplaceAll(expression, " ", `\s+`) + `)\b`)
		if err != nil {
			return nil, err
		}
		all = append(all, phrase{r, instead})
	}
	return all, nil
}

// finding is one occurrence of a phrase.
type finding struct {
	file          string
	line          int
	text, instead string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %q: write %s", f.file, f.line, f.text, f.instead)
}

var skipped = regexp.MustCompile(`^(\..+|bin|gen|testdata|vocabulary|zz_generated.*)$`)

// proseOf extracts the prose of files by their extension, on the lines of the file.
var proseOf = map[string]func(content string) string{
	".go": goProse, ".proto": after("//"), ".sql": after("--"), ".sh": after("#"), ".yaml": after("#"), ".yml": after("#"),
	"": after("#"), ".md": after(""), // "" is the Makefile
}

// check reports the findings in the files below root.
func check(root string, phrases []phrase, report func(finding)) error {
	return filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		prose := proseOf[filepath.Ext(file)]
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != root && skipped.MatchString(entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || prose == nil || skipped.MatchString(entry.Name()):
			return nil
		}
		content, err := os.ReadFile(file)
		text := prose(string(content))
		for _, p := range phrases {
			for _, at := range p.FindAllStringIndex(text, -1) {
				words := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
				if at[0] == 0 || text[at[0]-1] != '`' { // code, such as the system user `nobody`
					report(finding{file, 1 + strings.Count(text[:at[0]], "\n"), words, p.instead})
				}
			}
		}
		return err
	})
}

// after keeps the part of each line that follows marker.
func after(marker string) func(string) string {
	return func(content string) string {
		var out strings.Builder
		for line := range strings.Lines(content) {
			_, comment, _ := strings.Cut(line, marker)
			out.WriteString(strings.TrimSuffix(comment, "\n") + "\n")
		}
		return out.String()
	}
}

// goProse keeps comments, and strings of several words.
func goProse(content string) string {
	file := token.NewFileSet().AddFile("", -1, len(content))
	var s scanner.Scanner
	s.Init(file, []byte(content), nil, scanner.ScanComments)
	var out strings.Builder
	for line := 1; ; {
		pos, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return out.String()
		case tok == token.COMMENT, tok == token.STRING && strings.Contains(text, " "):
			out.WriteString(strings.Repeat("\n", file.Line(pos)-line) + strings.TrimPrefix(text, "//") + " ")
			line = file.Line(pos) + strings.Count(text, "\n")
		}
	}
}
