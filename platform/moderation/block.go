package moderation

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

// BlockRule is a compiled rule of the block list. It is looked for anywhere in a text, upper and lower case being the same,
// in the text as people see it: wide and composed characters as plain ones, and none that are not to be seen. A rule that
// matches exact words alone does not find what goes on with a letter or a digit, before or after: `ass` is not in class.
type BlockRule struct {
	word       string         // where the expression is a text; folded
	expression *regexp.Regexp // otherwise; for folded texts
	whole      *regexp.Regexp // the expression where nothing goes on before and after it; nil where it may
	exact      bool
}

// Plain reports whether the rule is a text and no expression.
func (r BlockRule) Plain() bool { return r.word != "" }

var errMatchesNothing = errors.New("matches the empty text, and with it every text")

// wordChar is what words are made of.
const wordChar = `\p{L}\p{N}\p{M}_`

// CompileBlock compiles a rule. The error says what is wrong with the expression, and reads on from the field's name.
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

// lower makes an expression that takes upper and lower case for the same one for lower case alone: such a one is found faster.
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

// in reports whether the rule is in a folded text.
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

// BlockList is the rules of the block list that are enabled. The zero value refuses nothing.
type BlockList struct{ rules []BlockRule }

// Add adds a rule. Rules are added before the list is used.
func (l *BlockList) Add(rule BlockRule) { l.rules = append(l.rules, rule) }

// Empty reports whether the list refuses nothing.
func (l *BlockList) Empty() bool { return len(l.rules) == 0 }

// Refuses reports whether a rule of the list is in a text.
func (l *BlockList) Refuses(text string) bool {
	if l.Empty() || text == "" {
		return false
	}
	text = folded(text)
	return slices.ContainsFunc(l.rules, func(r BlockRule) bool { return r.in(text) })
}
