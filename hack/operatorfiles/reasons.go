package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// reasonTable returns a table of the constants of type Reason in a Go file, with their comments. The rows have the order of the
// file, which groups the reasons by condition.
func reasonTable(path string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| condition | reason | meaning and remedy |\n|---|---|---|\n")
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST || !strings.HasPrefix(group.Doc.Text(), "Reasons of ") {
			continue
		}
		of := strings.TrimSuffix(strings.TrimPrefix(oneLine(group.Doc.Text()), "Reasons of "), ".")
		of = strings.NewReplacer(", and of ", "; ", ", of ", "; ").Replace(of)
		for _, spec := range group.Specs {
			row, err := reasonRow(spec.(*ast.ValueSpec))
			if err != nil {
				return "", fmt.Errorf("%s: %w", path, err)
			}
			fmt.Fprintf(&b, "| %s | %s |\n", of, row)
			of = ""
		}
	}
	return b.String(), nil
}

// reasonRow returns the reason, and its comment without the name of the constant.
func reasonRow(spec *ast.ValueSpec) (string, error) {
	name := spec.Names[0].Name
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return "", fmt.Errorf("%s is not a literal", name)
	}
	reason, err := strconv.Unquote(literal.Value)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	meaning, found := strings.CutPrefix(oneLine(spec.Doc.Text()), name+": ")
	if !found {
		return "", fmt.Errorf("the comment of %s does not begin with %q", name, name+": ")
	}
	meaning = strings.NewReplacer("|", "\\|", "<", "\\<").Replace(meaning)
	return "`" + reason + "` | " + sentence(meaning), nil
}

// sentence capitalizes the text, unless its first word is the name of a field.
func sentence(text string) string {
	if first, _, _ := strings.Cut(text, " "); text == "" || strings.Contains(strings.TrimSuffix(first, "."), ".") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
