package moderation

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// AllowRule is a compiled rule of the allow list: HOST or HOST/PATH.
//
// HOST has to match the whole of the host that a link leads to, or of a name that the host stands under: allowed.example
// matches allowed.example and www.allowed.example, and neither allowed.example.evil.example nor
// https://evil.example/?allowed.example nor https://allowed.example@evil.example. A HOST of letters, digits, hyphens and
// dots, escaped or not, is a domain: its dots are dots. Everything else is an expression.
//
// PATH, where there is one, is an expression that has to match the whole path after its first slash; nothing after the
// slash allows every path. Query and fragment are never looked at. A scheme (https://) and the anchors ^ and $ may stand
// around a rule and say nothing. Upper and lower case are the same in hosts.
type AllowRule struct {
	domain string         // where HOST is a domain
	host   *regexp.Regexp // otherwise
	path   *regexp.Regexp // nil for every path
}

// Plain reports whether the rule is a domain and nothing else: such a rule is looked up.
func (r AllowRule) Plain() bool { return r.domain != "" && r.path == nil }

var (
	errHost   = errors.New("must name a host before the first slash")
	ruleStart = regexp.MustCompile(`^\^?(?:\((?:\?:)?https\?://\)\??|(?:https\?|https|http)://)?`)
	plainHost = regexp.MustCompile(`^[\p{L}\p{N}\p{M}_\-]+(?:\.[\p{L}\p{N}\p{M}_\-]+)*$`)
	unescape  = strings.NewReplacer(`\.`, `.`, `\-`, `-`, `[.]`, `.`)
)

// CompileAllow compiles a rule. The error says what is wrong with the expression, and reads on from the field's name.
func CompileAllow(regex string) (AllowRule, error) {
	var rule AllowRule
	if err := checkSource(regex); err != nil {
		return rule, err
	}
	source := strings.ReplaceAll(strings.TrimSpace(regex), `\/`, "/")
	source = strings.TrimPrefix(source, ruleStart.FindString(source))
	if !strings.HasSuffix(source, `\$`) {
		source = strings.TrimSuffix(source, "$")
	}
	host, path, _ := strings.Cut(source, "/")
	if host == "" {
		return rule, errHost
	}
	rule, err := compileHost(host)
	if err == nil && path != "" {
		rule.path, err = compileWhole(path, 0)
	}
	return rule, err
}

func compileHost(host string) (rule AllowRule, err error) {
	if name := unescape.Replace(host); plainHost.MatchString(name) {
		if rule.domain = asciiName(name); rule.domain == "" {
			return rule, errors.New("names a host that cannot be one")
		}
		return rule, nil
	}
	rule.host, err = compileWhole(host, syntax.FoldCase)
	return rule, err
}

// compileWhole compiles an expression that has to match the whole of something.
func compileWhole(expression string, flags syntax.Flags) (*regexp.Regexp, error) {
	tree, err := parse(expression, flags)
	if err != nil {
		return nil, err
	}
	return compile(`\A(?:` + tree.String() + `)\z`)
}

// allows reports whether the rule matches a link; names are its host and the names that it stands under.
func (r AllowRule) allows(link Link, names []string) bool {
	if r.path != nil && !r.path.MatchString(link.Path) {
		return false
	}
	if r.domain != "" {
		return slices.Contains(names, r.domain)
	}
	return slices.ContainsFunc(names, r.host.MatchString)
}

// AllowList is the rules of the allow list that are enabled. The zero value allows nothing.
type AllowList struct {
	domains map[string]bool
	rules   []AllowRule
}

// Add adds a rule. Rules are added before the list is used.
func (l *AllowList) Add(rule AllowRule) {
	if !rule.Plain() {
		l.rules = append(l.rules, rule)
		return
	}
	if l.domains == nil {
		l.domains = map[string]bool{}
	}
	l.domains[rule.domain] = true
}

// maxLinks is how many links to different places a text may hold that an expression has to be run for.
const maxLinks = 200

// Refused returns the first of the links that no rule matches, and whether there is one.
func (l *AllowList) Refused(links []Link) (Link, bool) {
	seen := map[Link]bool{}
	for _, link := range links {
		if link.Host == "" {
			return link, true
		}
		names := parents(link.Host)
		if seen[link] || slices.ContainsFunc(names, func(name string) bool { return l.domains[name] }) {
			continue
		}
		if seen[link] = true; len(seen) > maxLinks {
			return link, true
		}
		if !slices.ContainsFunc(l.rules, func(r AllowRule) bool { return r.allows(link, names) }) {
			return link, true
		}
	}
	return Link{}, false
}
