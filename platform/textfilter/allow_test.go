package textfilter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func allowing(t *testing.T, rules ...string) *AllowList {
	t.Helper()
	list := &AllowList{}
	for _, regex := range rules {
		rule, err := CompileAllow(regex)
		require.NoError(t, err, regex)
		list.Add(rule)
	}
	return list
}

func TestAllowRules(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule    string
		plain   bool
		allowed []string
		refused []string
	}{
		{
			"allowed.example", true,
			[]string{
				"https://allowed.example", "http://ALLOWED.example:8080/x?y#z", "https://www.allowed.example/", "a.b.allowed.example",
				"https://me@allowed.example",
			},
			[]string{
				"https://allowedxexample", "https://evilallowed.example", "https://allowed.example.evil.example",
				"https://evil.example/?allowed.example",
				"https://evil.example/allowed.example", "https://allowed.example@evil.example", "https://evil.example#allowed.example",
				"https://example",
				`https://evil.example\@allowed.example`, "https://allowed%2eexample", "https://allowed.example,evil.com",
			},
		},
		{
			`allowed\.example`, true,
			[]string{"https://allowed.example", "https://www.allowed.example"},
			[]string{"https://allowed-example.test", "https://evil.example/?allowed.example"},
		},
		{`^https?:\/\/allowed\.example$`, true, []string{"https://allowed.example/x"}, []string{"https://evil.example/https://allowed.example"}},
		{"https://allowed.example/", true, []string{"http://allowed.example/x"}, []string{"https://evil.example"}},
		{`(https?://)?allowed[.]example`, true, []string{"https://allowed.example"}, []string{"https://allowedxexample"}},
		{"ALLOWED.Example", true, []string{"https://allowed.example"}, nil},
		{
			"bücher.example", true,
			[]string{"https://bücher.example", "https://xn--bcher-kva.example", "https://BÜCHER.example"},
			[]string{"https://bucher.example"},
		},
		{"example", true, []string{"https://a.example", "https://b.a.example"}, []string{"https://a.test"}},
		{`my\-site.example`, true, []string{"https://my-site.example"}, []string{"https://mysite.example"}},
		{`allowed.example/.*\$`, false, []string{"https://allowed.example/5$?x"}, []string{"https://allowed.example/5"}},
		{"192.0.2.1", true, []string{"http://192.0.2.1/x"}, []string{"http://192.0.2.10", "http://0.192.0.2.1.evil.com"}},
		{"2.1", true, nil, []string{"http://192.0.2.1/x"}},
		{"allowed.example/shop/.*", false, []string{"https://allowed.example/shop/x", "https://www.allowed.example/shop/a/b?c"}, []string{
			"https://allowed.example", "https://allowed.example/shop", "https://allowed.example/shop/../x", "https://allowed.example/x/shop/y",
			"https://allowed.example?/shop/x",
			"https://allowedxexample/shop/x",
		}},
		{
			`(blog|shop)\.allowed\.example`, false,
			[]string{"https://blog.allowed.example", "https://x.shop.allowed.example"},
			[]string{"https://allowed.example", "https://blog.allowed.example.evil.com"},
		},
		{
			`.*\.allowed\.example`, false,
			[]string{"https://x.allowed.example"},
			[]string{"https://allowed.example", "https://evil.example/.allowed.example"},
		},
		{
			`a|allowed\.example`, false,
			[]string{"https://allowed.example", "https://a"},
			[]string{"https://ab", "https://evil.com/allowed.example"},
		},
		{`.*`, false, []string{"https://anything.example/x"}, []string{"https://allowed%2eexample"}},
		{`\[::1\]`, false, []string{"http://[::1]:80/"}, []string{"http://[::2]"}},
		{
			`(?i)allowed\.example|\Qother.example\E`, false,
			[]string{"https://allowed.example", "https://other.example"},
			[]string{"https://otherxexample"},
		},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			rule, err := CompileAllow(tc.rule)
			require.NoError(t, err)
			require.Equal(t, tc.plain, rule.Plain())
			list := allowing(t, "unrelated.test", tc.rule)
			for _, text := range tc.allowed {
				links := Links(text)
				require.NotEmpty(t, links, text)
				refused, found := list.Refused(links)
				require.False(t, found, "%s: %+v", text, refused)
			}
			for _, text := range tc.refused {
				_, found := list.Refused(Links(text))
				require.True(t, found, text)
			}
		})
	}
}

func TestCompileAllowRejects(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{
		"", " ", "(", "a)|(?:.*", `a\`, "[a", "a{2,1}", "*.allowed.example", "(?=x)", `(a)\1`, "a\nb", "a\x00b", "/path", "https://",
		"a{1000}{1000}",
		`\Qallowed.example/(`, "allowed.example/(", "(((a{100}){10}){10})", strings.Repeat("a", 501),
		strings.Repeat("a.", 130) + "example", strings.Repeat(`\p{L}{900}`, 5),
	} {
		_, err := CompileAllow(wrong)
		require.Error(t, err, wrong)
	}
	_, err := CompileAllow(strings.Repeat("é", 60) + ".example")
	require.NoError(t, err)
	_, err = CompileAllow("a(" + strings.Repeat("x", 496) + ")?")
	require.NoError(t, err, "500 characters")
}

func TestEmptyAllowList(t *testing.T) {
	t.Parallel()
	list := &AllowList{}
	_, found := list.Refused(nil)
	require.False(t, found)
	_, found = list.Refused(Links("https://a.example"))
	require.True(t, found)
}

// TestManyLinks checks that domains are looked up in any number, while expressions are run on a limited number of
// links.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "h%d.allowed.com ", i)
	}
	links := Links(text.String())
	require.Len(t, links, 5000)
	_, found := allowing(t, "allowed.com").Refused(links)
	require.False(t, found)
	_, found = allowing(t, `h\d+\.allowed\.com`).Refused(links[:maxLinks+1])
	require.True(t, found)
	_, found = allowing(t, `h\d+\.allowed\.com`).Refused(append(links[:maxLinks:maxLinks], links[:maxLinks]...))
	require.False(t, found)
}
