package textfilter

import (
	"net/netip"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/idna"
)

// hosts converts names to the form in which browsers look them up: lower case, full-width characters replaced by plain
// ones, international names in Punycode (xn--).
var hosts = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// hostOf returns the host of an authority (user:password@host:port), or "" if it cannot be determined with certainty.
// It rejects input that browsers and other programs parse differently, such as escaped characters.
func hostOf(authority string) string {
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if inside, ok := strings.CutPrefix(host, "["); ok {
		return ipv6Of(inside)
	}
	if name, port, found := strings.Cut(host, ":"); found {
		if strings.Trim(port, "0123456789") != "" {
			return ""
		}
		host = name
	}
	return asciiName(host)
}

func ipv6Of(inside string) string {
	text, port, closed := strings.Cut(inside, "]")
	if !closed { // the bracket was trimmed as trailing punctuation
		port = ""
	}
	address, err := netip.ParseAddr(text)
	if err != nil || strings.Trim(port, ":0123456789") != "" {
		return ""
	}
	return "[" + address.String() + "]"
}

// asciiName returns the ASCII form in which a name is looked up, or "" if it has none.
func asciiName(name string) string {
	ascii, err := hosts.ToASCII(name)
	if err != nil {
		return ""
	}
	ascii = strings.TrimSuffix(strings.ToLower(ascii), ".")
	if ascii == "" || len(ascii) > 253 {
		return ""
	}
	for part := range strings.SplitSeq(ascii, ".") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return ""
		}
	}
	return ascii
}

// pathOf returns the path in what follows an authority, without its first slash.
func pathOf(rest string) string {
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = strings.ReplaceAll(rest, `\`, "/")
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	return strings.TrimPrefix(path.Clean("/"+rest), "/")
}

// parents returns host and its parent domains: a.b.example, b.example, example. IP addresses have no parents.
func parents(host string) []string {
	all := []string{host}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return all
	}
	for {
		_, parent, found := strings.Cut(host, ".")
		if !found {
			return all
		}
		all = append(all, parent)
		host = parent
	}
}
