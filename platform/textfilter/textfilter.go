// Package textfilter checks texts against the rules that administrators define: an allow list of links and a block list
// of words. It depends on neither the database nor the transport.
//
// Rules are RE2 regular expressions, whose matching time is linear in the length of the text. AllowRule and BlockRule
// document what a rule is matched against.
package textfilter

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/plaza-social/plaza/platform/region"
)

// Limits of a list. Words and domains are looked up, but every expression is run, so their number is limited further.
const (
	MaxRules       = 1000 // of one list
	MaxExpressions = 100  // rules that are neither a word nor a domain
	MaxRegex       = 500  // characters of a rule
	maxProgram     = 2000 // instructions of a compiled expression
)

// The names of the lists in the database.
const (
	Allow = "allow"
	Block = "block"
)

// RuleID returns the id of the rule with an expression in a list. It is the same in all regions, so that adding a rule
// twice concurrently creates one rule. Every home has a row of each rule; the id names the first of them.
func RuleID(list, regex string) string {
	hash := sha256.Sum256([]byte(list + "\x00" + regex))
	return region.DerivedID(region.All()[0], hash[:])
}

// Errors of an expression, worded as predicates of the field's name.
var (
	errLong    = fmt.Errorf("must be at most %d characters", MaxRegex)
	errEmpty   = errors.New("must not be empty")
	errControl = errors.New("must not contain line breaks or control characters")
	errLarge   = errors.New("is too large when its repetitions are expanded")
)

// checkSource checks an expression before it is parsed.
func checkSource(regex string) error {
	switch {
	case strings.TrimSpace(regex) == "":
		return errEmpty
	case utf8.RuneCountInString(regex) > MaxRegex:
		return errLong
	case strings.ContainsFunc(regex, unicode.IsControl):
		return errControl
	}
	return nil
}

// parse parses an expression on its own, so that surrounding syntax added later cannot change its meaning (`a)|(?:b`).
func parse(expression string, flags syntax.Flags) (*syntax.Regexp, error) {
	tree, err := syntax.Parse(expression, syntax.Perl|flags)
	var program *syntax.Prog
	if err == nil {
		program, err = syntax.Compile(tree.Simplify())
	}
	if err != nil {
		return nil, fmt.Errorf("is not a valid RE2 regular expression: %s", message(err))
	}
	if len(program.Inst) > maxProgram {
		return nil, errLarge
	}
	return tree, nil
}

// compile compiles an expression composed of parsed parts.
func compile(pattern string) (*regexp.Regexp, error) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errLarge // its parts are valid
	}
	return compiled, nil
}

// message returns the description of an expression's error without the prefix that locates it.
func message(err error) string {
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		return string(wrong.Code)
	}
	return "it does not compile"
}

// visible returns text without invisible characters, such as a zero-width space in the middle of a word.
func visible(text string) string {
	hidden := func(r rune) bool {
		return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || unicode.IsControl(r) &&
			!unicode.IsSpace(r)
	}
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, text)
}

// folded returns text in the form in which words are compared: lower case, with full-width and composed characters
// replaced by plain ones.
func folded(text string) string { return strings.ToLower(norm.NFKC.String(visible(text))) }
