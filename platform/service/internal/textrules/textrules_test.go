package textrules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/textfilter"
)

func TestTextOf(t *testing.T) {
	for name, c := range map[string]struct {
		object string
		want   []string
	}{
		"empty":                {`{}`, nil},
		"text":                 {`{"text":"a"}`, []string{"a"}},
		"not text":             {`{"n":1.0,"b":true,"z":null}`, nil},
		"nested":               {`{"data":{"deeper":{"text":"a"}}}`, []string{"a"}},
		"list":                 {`{"list":["a",1.0,{"x":"b"},["c"]]}`, []string{"a", "b", "c"}},
		"names are not texts":  {`{"spam":1.0}`, nil},
		"empty texts are kept": {`{"text":""}`, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, TextOf(freeform.Object(c.object)).Texts)
		})
	}
	require.Empty(t, TextOf(nil))
}

func TestTextOfFieldsAndPolls(t *testing.T) {
	a, b := "a", "b"
	require.Equal(t, []string{"a", "b"}, TextOfFields(&a, nil, &b).Texts)
	require.Empty(t, TextOfFields(nil))
	poll := content.Poll{Title: "t", Question: "q", Answers: []content.PollAnswer{{Data: "x"}, {Data: "y"}}}
	require.Equal(t, []string{"t", "q", "x", "y"}, TextOfPoll(poll).Texts)
}

// TestTextOfChanges checks that texts which stay as they are stored are not checked again.
func TestTextOfChanges(t *testing.T) {
	a, same, b, empty := "a", "a", "b", ""
	for name, c := range map[string]struct {
		pairs [][2]*string
		want  []string
	}{
		"none":            {nil, nil},
		"not set":         {[][2]*string{{&a, nil}}, nil},
		"the stored text": {[][2]*string{{&a, &same}}, nil},
		"another text":    {[][2]*string{{&a, &b}}, []string{"b"}},
		"emptied":         {[][2]*string{{&a, &empty}}, []string{""}},
		"some of several": {[][2]*string{{&a, &same}, {&empty, &a}, {&b, nil}, {&a, &b}}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, UserText{Texts: c.want}, TextOfChanges(c.pairs...))
		})
	}
}

// TestLinkOfField checks which fields have a link to check.
func TestLinkOfField(t *testing.T) {
	empty, link := "", "https://example.com"
	require.Equal(t, UserText{}, LinkOfField(nil))
	require.Equal(t, UserText{}, LinkOfField(&empty))
	require.Equal(t, UserText{Links: []string{link}}, LinkOfField(&link))
}

// newRules returns cached rules: the block list has the word spam, the allow list the domain example.org.
func newRules(t *testing.T, whitelist bool) *Rules {
	t.Helper()
	compiled := &textfilter.Rules{Version: "1"}
	require.NoError(t, compiled.Add(textfilter.Block, "spam", true))
	require.NoError(t, compiled.Add(textfilter.Allow, "example.org", false))
	d := &service.Deps{}
	d.TextRules.Put(region.EU, compiled)
	return &Rules{deps: d, home: region.EU, state: network.ModerationState{Version: "1", IsWhitelistEnabled: whitelist}}
}

func confirmed(t *testing.T, granted ...auth.Permission) *auth.Caller {
	t.Helper()
	caller := &auth.Caller{Kind: auth.User, UserID: "u"}
	require.NoError(t, auth.Confirm(auth.WithCaller(t.Context(), caller), auth.Facts{Exists: true, Granted: granted}))
	return caller
}

func TestRequire(t *testing.T) {
	text := func(s string) UserText { return UserText{Texts: []string{s}} }
	link := func(s string) UserText { return UserText{Links: []string{s}} }
	const blocked, notAllowed = fail.CodeWordBlocked, fail.CodeLinkNotAllowed
	for _, c := range []struct {
		name      string
		text      UserText
		whitelist bool
		granted   []auth.Permission
		want      fail.Code
	}{
		{"nothing", UserText{}, true, nil, 0},
		{"harmless", text("hello"), true, nil, 0},
		{"blocked word", text("buy spam now"), true, nil, blocked},
		{"part of a word", text("spammer"), true, nil, 0},
		{"blocked word in a link field", link("https://example.org/spam"), true, nil, blocked},
		{"allowed link", text("see https://example.org/a"), true, nil, 0},
		{"other link", text("see https://example.com/a"), true, nil, notAllowed},
		{"other link in a link field", link("https://example.com"), true, nil, notAllowed},
		{"the allow list is disabled", text("see https://example.com/a"), false, nil, 0},
		{"the block list is not", text("spam"), false, nil, blocked},
		{"blocked before not allowed", text("spam at https://example.com"), true, nil, blocked},
		{"manager of the block list", text("spam"), true, []auth.Permission{auth.ManageBlockList}, 0},
		{"manager of the block list, other link", text("https://example.com"), true, []auth.Permission{auth.ManageBlockList}, notAllowed},
		{"manager of the allow list", text("https://example.com"), true, []auth.Permission{auth.ManageAllowList}, 0},
		{"manager of the allow list, blocked word", text("spam"), true, []auth.Permission{auth.ManageAllowList}, blocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := newRules(t, c.whitelist).Require(t.Context(), confirmed(t, c.granted...), text("first"), c.text)
			if c.want == 0 {
				require.NoError(t, err)
				return
			}
			require.Equal(t, c.want, fail.From(err).Code)
		})
	}
}

// TestRequireWithoutRules tests a home that never had a rule, for which nothing is cached or read.
func TestRequireWithoutRules(t *testing.T) {
	r := &Rules{deps: &service.Deps{}, home: region.EU}
	require.NoError(t, r.Require(t.Context(), confirmed(t), UserText{Texts: []string{"spam", "https://example.com"}}))
	r.state.IsWhitelistEnabled = true
	require.NoError(t, r.RequireNotBlocked(t.Context(), UserText{Texts: []string{"spam"}}))
	err := r.RequireAllowed(t.Context(), UserText{Texts: []string{"https://example.com"}})
	require.Equal(t, fail.CodeLinkNotAllowed, fail.From(err).Code)
}

// TestRequireWithoutText tests that Require reads nothing for a request without a text: there is no batch.
func TestRequireWithoutText(t *testing.T) {
	require.NotPanics(t, func() {
		Require(&service.Request{}, region.EU)
		Require(&service.Request{}, region.EU, UserText{}, TextOfFields(nil))
	})
}
