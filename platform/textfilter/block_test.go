package textfilter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBlockRules(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule    string
		exact   bool
		plain   bool
		refused []string
		passed  []string
	}{
		{"bad", false, true, []string{"bad", "so BAD!", "badly", "ｂａｄ", "b\u200bad", "ba\u00add", "bäd"}, []string{"b a d", "", "bed"}},
		{" bad ", true, true, []string{"bad"}, []string{"badly"}},
		{
			"bad", true, true,
			[]string{"bad", "so BAD!", "(bad)", "badly bad", "bad.", "b\ufe0fad", "ba\u3164d", "b\u034fa\x7fd", "b\x01ad"},
			[]string{"badly", "forbad", "bad1", "bad_x", "badé", "xbad"},
		},
		{"bad word", true, true, []string{"a bad word."}, []string{"a bad words", "bad  word"}},
		{"--", true, true, []string{"a---", "-- x"}, []string{"a--b"}},
		{`bad\.word`, false, true, []string{"Bad.Word"}, []string{"badxword"}},
		{"bad.word", false, false, []string{"bad word", "bad-word"}, []string{"badword"}},
		{"b[a4]d+", false, false, []string{"B4DDD", "bad"}, []string{"bd", "bäd"}},
		{"b[a4]d+", true, false, []string{"a b4dd!", "so bad"}, []string{"b4dly", "xbad"}},
		{"a|b", true, false, []string{"a", "x b."}, []string{"ab"}},
		{"^bad$", false, false, []string{"bad", "BAD"}, []string{"so bad"}},
		{"café", true, true, []string{"cafe\u0301", "CAFÉ"}, []string{"cafés", "cafe"}},
		{"плохо", true, true, []string{"Это ПЛОХО."}, []string{"плохой"}},
		{"坏话", false, true, []string{"说坏话的人"}, []string{"好话"}},
		{"straße", false, true, []string{"STRAßE"}, []string{"strasse"}},
	} {
		t.Run(fmt.Sprintf("%s %t", tc.rule, tc.exact), func(t *testing.T) {
			rule, err := CompileBlock(tc.rule, tc.exact)
			require.NoError(t, err)
			require.Equal(t, tc.plain, rule.Plain())
			list := &BlockList{}
			require.False(t, list.Refuses("bad"), "an empty list")
			list.Add(rule)
			for _, text := range tc.refused {
				require.True(t, list.Refuses(text), text)
			}
			for _, text := range tc.passed {
				require.False(t, list.Refuses(text), text)
			}
		})
	}
}

func TestCompileBlockRejects(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{
		"", "  ", "(", "a)|(?:b", "a*", ".*", "^", "a|", "(?:)", "x{2,1}", "(?<=x)y", `\`, "a\tb", "\u200b", strings.Repeat("a", 501),
		"(((a{100}){10}){10})",
	} {
		_, err := CompileBlock(wrong, false)
		require.Error(t, err, "%q", wrong)
	}
	_, err := CompileBlock(strings.Repeat("é", MaxRegex), false)
	require.NoError(t, err, "characters, not bytes")
}

func TestRuleIDs(t *testing.T) {
	t.Parallel()
	id := RuleID(Allow, "a.example")
	require.Regexp(t, "^01[0-9a-f]{22}$", id)
	require.Equal(t, id, RuleID(Allow, "a.example"))
	require.NotEqual(t, id, RuleID(Block, "a.example"))
	require.NotEqual(t, id, RuleID(Allow, "b.example"))
}

// BenchmarkFullLists checks the longest text of a post against full lists.
func BenchmarkFullLists(b *testing.B) {
	allow, block := &AllowList{}, &BlockList{}
	for i := range MaxRules {
		regex := fmt.Sprintf("word%d", i)
		domain := fmt.Sprintf("allowed%d.example", i)
		if i < MaxExpressions {
			regex, domain = fmt.Sprintf(`w[o0]rd%d+\s*x`, i), fmt.Sprintf(`a(ll)?owed%d\.example`, i)
		}
		word, err := CompileBlock(regex, true)
		require.NoError(b, err)
		link, err := CompileAllow(domain)
		require.NoError(b, err)
		block.Add(word)
		allow.Add(link)
	}
	text := strings.Repeat("The quick brown fox jumps over https://allowed999.example/x ", 50_000/60)
	b.Run("words", func(b *testing.B) {
		for b.Loop() {
			require.False(b, block.Refuses(text))
		}
	})
	b.Run("links", func(b *testing.B) {
		for b.Loop() {
			_, found := allow.Refused(Links(text))
			require.False(b, found)
		}
	})
	b.Run("words of a short text", func(b *testing.B) {
		for b.Loop() {
			require.False(b, block.Refuses(text[:280]))
		}
	})
}
