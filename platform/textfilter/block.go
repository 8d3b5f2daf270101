package textfilter

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// BlockRule is a compiled rule of the block list. It matches anywhere in a text, case-insensitively, after
// normalization: full-width and composed characters are replaced by plain ones, invisible ones removed. A rule that is
// literal text also matches words with accents and with letters of another script between Latin ones. A rule for
// whole words only does not match if a letter or digit precedes or follows: `ass` does not match "class".
type BlockRule struct {
	word       string         // set if the expression is literal text; folded
	expression *regexp.Regexp // set otherwise; matches folded texts
	whole      *regexp.Regexp // the expression between word boundaries; nil unless exact
	exact      bool
}

// Plain reports whether the rule is literal text rather than a regular expression.
func (r BlockRule) Plain() bool { return r.word != "" }

var errMatchesNothing = errors.New("must not match the empty text, because it would match every text")

// wordChar matches the characters of words.
const wordChar = `\p{L}\p{N}\p{M}_`

// CompileBlock compiles a rule. The error describes the mistake as a predicate of the field's name.
func CompileBlock(regex string, exact bool) (BlockRule, error) {
	rule := BlockRule{exact: exact}
	if err := checkSource(regex); err != nil {
		return rule, err
	}
	tree, err := parse(norm.NFC.String(strings.TrimSpace(regex)), syntax.FoldCase)
	if err != nil {
		return rule, err
	}
	if tree.Op == syntax.OpLiteral {
		if rule.word = folded(string(tree.Rune)); rule.word == "" {
			return rule, errEmpty
		}
		return rule, nil
	}
	lower(tree)
	if rule.expression, err = compile(tree.String()); err != nil {
		return rule, err
	}
	if rule.expression.MatchString("") {
		return rule, errMatchesNothing
	}
	if exact {
		rule.whole, err = compile(`(?:\A|[^` + wordChar + `])(?:` + tree.String() + `)(?:[^` + wordChar + `]|\z)`)
	}
	return rule, err
}

// lower rewrites a case-insensitive expression into one that matches lower case only, which is faster.
func lower(tree *syntax.Regexp) {
	if tree.Op == syntax.OpLiteral {
		for i, r := range tree.Rune {
			tree.Rune[i] = unicode.ToLower(r)
		}
		tree.Flags &^= syntax.FoldCase
	}
	for _, part := range tree.Sub {
		lower(part)
	}
}

// in reports whether the rule matches a folded text.
func (r BlockRule) in(text string) bool {
	switch {
	case r.expression != nil:
		return r.expression.MatchString(text) && (r.whole == nil || r.whole.MatchString(text))
	case !r.exact:
		return strings.Contains(text, r.word)
	}
	for from := 0; ; {
		at := strings.Index(text[from:], r.word)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(r.word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !isWordChar(before) && !isWordChar(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
}

func isWordChar(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

// BlockList holds the enabled rules of the block list. The zero value matches no text.
type BlockList struct{ rules []BlockRule }

// Add adds a rule. It must not be called concurrently with other methods.
func (l *BlockList) Add(rule BlockRule) { l.rules = append(l.rules, rule) }

// Empty reports whether the list has no rules.
func (l *BlockList) Empty() bool { return len(l.rules) == 0 }

// Refuses reports whether a rule of the list matches text.
func (l *BlockList) Refuses(text string) bool {
	if l.Empty() || text == "" {
		return false
	}
	text = folded(text)
	plain := unmasked(text)
	return slices.ContainsFunc(l.rules, func(r BlockRule) bool { return r.in(text) || r.Plain() && plain != text && r.in(plain) })
}
