package textfilter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		hosts      []string // of the links, in order; empty if the host cannot be determined
	}{
		{"no link", "Off to the crag, back at 17.30.", nil},
		{"nothing", "", nil},
		{"a scheme", "see https://allowed.example/x?y=1#z", []string{"allowed.example"}},
		{"a full stop after it", "see https://allowed.example.", []string{"allowed.example"}},
		{"in brackets", "(https://allowed.example/x)", []string{"allowed.example"}},
		{"in quotes", `"https://allowed.example", she said`, []string{"allowed.example"}},
		{"in markdown", "[here](https://allowed.example/x), and *https://other.example*", []string{"allowed.example", "other.example"}},
		{"in an element", `<a href="https://evil.example">x</a>`, []string{"evil.example"}},
		{"many at its end", "https://allowed.example/x?!...", []string{"allowed.example"}},
		{"an emoji at its end", "https://allowed.example🎉", []string{"allowed.example"}},
		{"upper case", "HTTPS://EVIL.EXAMPLE/X", []string{"evil.example"}},
		{"another scheme", "ftp://evil.example and app+x://open", []string{"evil.example", "open"}},
		{"a port", "https://evil.example:8443/x", []string{"evil.example"}},
		{"no number for a port", "https://allowed.example:x/", []string{""}},
		{"a user", "https://allowed.example@evil.example/", []string{"evil.example"}},
		{"a user with a password", "https://allowed.example:443@evil.example", []string{"evil.example"}},
		{"two users", "https://a@allowed.example@evil.example", []string{"evil.example"}},
		{"a user with a slash", "https://evil.example/@allowed.example", []string{"evil.example"}},
		{"a backslash", `https://evil.example\@allowed.example`, []string{"evil.example"}},
		{"backslashes for slashes", `https:\\evil.example`, []string{"evil.example"}},
		{"three slashes", "https:///evil.example", []string{"evil.example"}},
		{"in a query", "https://evil.example/?allowed.example", []string{"evil.example"}},
		{"in a fragment", "https://evil.example#allowed.example", []string{"evil.example"}},
		{"in another link", "https://allowed.example/?to=https://evil.example", []string{"allowed.example", "evil.example"}},
		{"after a comma", "https://allowed.example/x,evil.com", []string{"allowed.example", "evil.com"}},
		{"a comma in the host", "https://allowed.example,evil.com", []string{"", "evil.com"}},
		{"an escaped host", "https://allowed%2eexample", []string{""}},
		{"invalid hosts", "https://a..b https://-a$/ https://[::1 ]", []string{"", "", "[::1]"}},
		{"an address", "http://192.0.2.1/x http://[2001:DB8::1]:80/ http://2130706433/", []string{"192.0.2.1", "[2001:db8::1]", "2130706433"}},
		{"a scheme and nothing", "https:// is a scheme, and https://…", nil},
		{"a dot at the end of the host", "https://evil.example./x", []string{"evil.example"}},
		{"international", "https://bücher.example/ пример.рф", []string{"xn--bcher-kva.example", "xn--e1afmkfd.xn--p1ai"}},
		{"full-width letters", "https://ｅｖｉｌ．example", []string{"evil.example"}},
		{"a full-width dot", "https://evil。example", []string{"evil.example"}},
		{"zero-width characters", "https://ev\u200bil.exa\u00admple ev\u2060il.com", []string{"evil.example", "evil.com"}},
		{"www", "www.intranet and WWW.Backoffice", []string{"www.intranet", "www.backoffice"}},
		{"bare", "go to evil.com, or evil.co.uk/x?y. EVIL.COM!", []string{"evil.com", "evil.co.uk", "evil.com"}},
		{"bare, with a port", "evil.com:8080", []string{"evil.com"}},
		{"bare, in a private network", "wiki.internal printer.local x.test", []string{"wiki.internal", "printer.local", "x.test"}},
		{"bare, and the next sentence", "evil.com.Then home", []string{"evil.com"}},
		{"bare, among letters of another script", "evil.com这是", []string{"evil.com"}},
		{"bare, with a hyphen", "evil.com-based", []string{"evil.com"}},
		{"bare, with an underscore", "a_b.evil.com", []string{"a_b.evil.com"}},
		{"bare, after a colon", "https:evil.com", []string{"evil.com"}},
		{"as a scheme", "evil.com://allowed.example", []string{"allowed.example", "evil.com"}},
		{"no top-level domain", "file.txt main.go v1.2 3.14 e.g. i.e. node.js", nil},
		{"an address without a path", "version 1.2.3.4", nil},
		{"an address with one", "192.0.2.1/x 192.0.2.1:80", []string{"192.0.2.1", "192.0.2.1"}},
		{"an e-mail address", "write to me@evil.com or first.last.me@evil.com", nil},
		{"an e-mail address with a path", "me@evil.com/x allowed.com@evil.com:80", []string{"evil.com", "evil.com"}},
		{"a user without a scheme", `[x](//a@evil.com) //allowed.com@evil.com \\\\a@evil.com`, []string{"evil.com", "evil.com", "evil.com"}},
		{"an e-mail address after a path", "a/me@evil.com", nil},
		{"too long for an e-mail address", strings.Repeat("a", 300) + "@evil.com", []string{"evil.com"}},
		{"a handle", "@evil.com", []string{"evil.com"}},
		{"at the end of a word", "evil.com@ home", []string{"evil.com"}},
		{"a broken text", "\xff https://evil.example\xff", []string{"evil.example"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var hosts []string
			for _, link := range Links(tc.text) {
				hosts = append(hosts, link.Host)
			}
			require.Equal(t, tc.hosts, hosts)
		})
	}
}

func TestPathOfLink(t *testing.T) {
	t.Parallel()
	for link, path := range map[string]string{
		"https://a.example":                    "",
		"https://a.example/":                   "",
		"https://a.example/shop/x?y=/z#/w":     "shop/x",
		"https://a.example/shop/../evil":       "evil",
		"https://a.example/shop/../":           "",
		"https://a.example/shop/%2e%2e/evil":   "evil",
		"https://a.example/shop/..%2Fevil":     "evil",
		`https://a.example\shop\x`:             "shop/x",
		"https://a.example/Shop/%C3%BC":        "Shop/ü",
		"https://a.example/100%":               "100",
		"https://a.example?/shop":              "",
		"a.example/shop":                       "shop",
		"https://evil.example/https/a.example": "https/a.example",
		"evil.example/https://a.example":       "https:/a.example",
	} {
		require.Equal(t, path, ParseLink(link).Path, link)
	}
	require.Equal(t, []Link{{Host: "evil.com"}}, Links("evil.com.Then/shop"), "the path follows another word")
}

// TestLinksOfLongTexts parses the longest text of a post, made of expensive input.
func TestLinksOfLongTexts(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"a.", "a@", "https://", "a.com ", "://", "www.", "ａ．", "a:\\\\"} {
		text := strings.Repeat(part, 50_000/len([]rune(part)))
		require.NotPanics(t, func() { Links(text) }, part)
	}
	hosts := Links("https://allowed.example/" + strings.Repeat("a", maxLink))
	require.Equal(t, []Link{{}}, hosts, "longer than maxLink")
	many := Links(strings.Repeat("a.com ", 8000))
	require.Len(t, many, 8000)
}

func FuzzLinks(f *testing.F) {
	for _, seed := range []string{"https://a.example@b.example:80/x", "пример.рф/x", `a.com:\\b`, "[::1]", "a@b.com/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, link := range append(Links(text), ParseLink(text)) {
			if strings.ToLower(link.Host) != link.Host || strings.ContainsAny(link.Host, "@/\\?# ") {
				t.Errorf("%q: the host %q", text, link.Host)
			}
		}
	})
}
