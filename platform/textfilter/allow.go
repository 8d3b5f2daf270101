package textfilter

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// AllowRule is a compiled rule of the allow list: HOST or HOST/PATH.
//
// HOST must match the whole host of a link or one of its parent domains: allowed.example matches allowed.example and
// www.allowed.example, but not allowed.example.evil.example, https://evil.example/?allowed.example or
// https://allowed.example@evil.example. A HOST of letters, digits, hyphens and dots, escaped or not, is a domain name,
// in which dots are literal. Any other HOST is a regular expression.
//
// PATH, if present, is a regular expression that must match the whole path after its first slash; an empty PATH matches
// every path. Query and fragment are ignored. A scheme (https://) and the anchors ^ and $ are permitted around a rule
// and have no effect. Hosts are compared case-insensitively.
type AllowRule struct {
	domain string         // set if HOST is a domain name
	host   *regexp.Regexp // set otherwise
	path   *regexp.Regexp // nil matches every path
}

// Plain reports whether the rule is only a domain name; such rules are looked up in a map instead of being matched.
func (r AllowRule) Plain() bool { return r.domain != "" && r.path == nil }

var (
	errHost   = errors.New("must name a host before the first slash")
	ruleStart = regexp.MustCompile(`^\^?(?:\((?:\?:)?https\?://\)\??|(?:https\?|https|http)://)?`)
	plainHost = regexp.MustCompile(`^[\p{L}\p{N}\p{M}_\-]+(?:\.[\p{L}\p{N}\p{M}_\-]+)*$`)
	unescape  = strings.NewReplacer(`\.`, `.`, `\-`, `-`, `[.]`, `.`)
)

// CompileAllow compiles a rule. The error describes the mistake as a predicate of the field's name.
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
			return rule, errors.New("must name a valid host")
		}
		return rule, nil
	}
	rule.host, err = compileWhole(host, syntax.FoldCase)
	return rule, err
}

// compileWhole compiles an expression that must match the whole input.
func compileWhole(expression string, flags syntax.Flags) (*regexp.Regexp, error) {
	tree, err := parse(expression, flags)
	if err != nil {
		return nil, err
	}
	return compile(`\A(?:` + tree.String() + `)\z`)
}

// allows reports whether the rule matches a link. names are its host and the parent domains of that.
func (r AllowRule) allows(link Link, names []string) bool {
	if r.path != nil && !r.path.MatchString(link.Path) {
		return false
	}
	if r.domain != "" {
		return slices.Contains(names, r.domain)
	}
	return slices.ContainsFunc(names, r.host.MatchString)
}

// AllowList holds the enabled rules of the allow list. The zero value allows no links.
type AllowList struct {
	domains map[string]bool
	rules   []AllowRule
}

// Add adds a rule. It must not be called concurrently with other methods.
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

// maxLinks is the maximum number of distinct links per text on which regular expressions are run.
const maxLinks = 200

// Refused returns the first of the links that no rule matches; ok is false if every link is allowed.
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
