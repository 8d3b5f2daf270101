package moderation

import (
	"net/netip"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/idna"
)

// hosts turns names into the form in which they are looked up, as browsers do: lower case, wide letters and dots as plain
// ones, international letters as xn--.
var hosts = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// hostOf returns the host of an authority (user:password@host:port); empty for one that is none for certain. What browsers
// and programs read in different ways, such as an escaped character, is none.
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
	if !closed { // it was punctuation at the end
		port = ""
	}
	address, err := netip.ParseAddr(text)
	if err != nil || strings.Trim(port, ":0123456789") != "" {
		return ""
	}
	return "[" + address.String() + "]"
}

// asciiName is a name in the form in which it is looked up; empty where it has none.
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

// pathOf returns the path of what follows an authority, without its first slash.
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

// parents returns a host and the names that it stands under: a.b.example, b.example, example. An address is under none.
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
