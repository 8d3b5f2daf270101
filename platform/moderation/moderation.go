// Package moderation holds texts against the rules that administrators made: an allow list of links and a block list of
// words. It reads no rows and knows no transport.
//
// Rules are regular expressions of RE2, which take a time that grows with the text alone. What a rule is matched against is
// said at AllowRule and BlockRule.
package moderation

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

// Limits of a list. Those of expressions keep what a text costs small: words and domains are looked up, an expression is run.
const (
	MaxRules       = 1000 // of one list
	MaxExpressions = 100  // of them, those that are more than a word or a domain
	MaxRegex       = 500  // characters of a rule
	maxProgram     = 2000 // steps of a compiled expression
)

// The lists, as rows name them.
const (
	Allow = "allow"
	Block = "block"
)

// RuleID is the id of the rule with an expression in a list: the same at every region, so that two who add the same rule at
// once add one. A rule has a row at every home; the id names the first of them.
func RuleID(list, regex string) string {
	hash := sha256.Sum256([]byte(list + "\x00" + regex))
	return region.DerivedID(region.All()[0], hash[:])
}

// Errors of an expression; each reads on from the field's name.
var (
	errLong    = fmt.Errorf("must be at most %d characters", MaxRegex)
	errEmpty   = errors.New("must not be empty")
	errControl = errors.New("must hold no line breaks and no control characters")
	errLarge   = errors.New("is too large once its repetitions are spelled out")
)

// checkSource checks an expression before it is taken apart.
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

// parse reads an expression by itself: what it is put into later cannot change its meaning, for `a)|(?:b` is none.
func parse(expression string, flags syntax.Flags) (*syntax.Regexp, error) {
	tree, err := syntax.Parse(expression, syntax.Perl|flags)
	if err != nil {
		return nil, fmt.Errorf("is no regular expression of RE2: %s", message(err))
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fmt.Errorf("is no regular expression of RE2: %s", message(err))
	}
	if len(program.Inst) > maxProgram {
		return nil, errLarge
	}
	return tree, nil
}

// compile compiles what was parsed and put together.
func compile(pattern string) (*regexp.Regexp, error) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errLarge // what it is made of was right
	}
	return compiled, nil
}

// message is what is wrong with an expression, without the prefix that says where it was found.
func message(err error) string {
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		return string(wrong.Code)
	}
	return "it does not compile"
}

// visible is a text without the characters that change where it stands and not what it shows, such as a space of no width
// in the middle of a word.
func visible(text string) string {
	hidden := func(r rune) bool {
		return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || unicode.IsControl(r) && !unicode.IsSpace(r)
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

// folded is a text in the one form that words are compared in: lower case, wide and composed characters as plain ones.
func folded(text string) string { return strings.ToLower(norm.NFKC.String(visible(text))) }
