package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	allowPath = "/api/v2/whitelist/records"
	blockPath = "/api/v2/blacklist/records"
)

var (
	linkRefused = failure{status: 400, code: 400309}
	wordRefused = failure{status: 400, code: 400308}
)

// addRules adds rules to a list and returns their ids.
func addRules(t *testing.T, n *apptest.Network, path string, more object, regexs ...string) []string {
	t.Helper()
	r := n.Admin(region.EU).Do(t, http.MethodPost, path, with(object{"regexs": regexs}, more)).OK(t)
	require.Equal(t, regexs, r.Strings(t, "data.results", "regex"))
	return r.Strings(t, "data.results", "ruleId")
}

func setWhitelist(t *testing.T, n *apptest.Network, on bool) {
	t.Helper()
	n.Admin(region.EU).Do(t, http.MethodPut, moderationPath, object{"isWhitelistEnabled": on}).OK(t)
}

// textField is an operation that writes a text, on the caller's wall or as the caller.
type textField struct {
	name   string
	method string
	path   string
	body   func(text string) object
}

// textFields returns all operations in which a user writes a text.
func textFields(t *testing.T, c *apptest.Client) []textField {
	t.Helper()
	wall := object{"targetType": "user", "targetId": c.UserID}
	post := func(data func(text string) object, more ...object) func(string) object {
		return func(text string) object { return with(wall, append(more, object{"data": data(text)})...) }
	}
	text := func(text string) object { return object{"text": text} }
	later := func(text string) object {
		return object{"scheduledAt": timeIn(time.Hour), "postData": with(wall, object{"data": object{"text": text}})}
	}
	item := func(link, customText string) object {
		return with(wall, object{"dataType": "text", "data": object{"text": "x"}, "items": []object{{
			"type": "hyperlink", "data": object{"url": link, "customText": customText},
		}}})
	}
	titled := func(title string) object { return object{"title": title} }
	described := func(text string) object { return object{"title": "x", "description": text} }
	comment := object{"referenceType": "post", "referenceId": newWallPost(t, c)}
	scheduled := schedulePath + "/" + newScheduled(t, c, later("x"))
	stream, room := streamsPath+"/"+newStream(t, c)["streamId"].(string), roomsPath+"/"+newRoom(t, c)["roomId"].(string)
	answers := []object{{"data": "this"}, {"data": "that"}}
	return []textField{
		{"a post", http.MethodPost, "/api/v4/posts", post(text)},
		{"a post's title", http.MethodPost, "/api/v4/posts", post(func(s string) object { return object{"text": "x", "title": s} })},
		{
			"another field of a post", http.MethodPost, "/api/v4/posts",
			post(func(s string) object { return object{"text": "x", "more": []any{object{"deep": s}}} }),
		},
		{
			"a post's own type", http.MethodPost, "/api/v4/posts",
			post(func(s string) object { return object{"y": s} }, object{"dataType": "my.type"}),
		},
		{"an older post", http.MethodPost, "/api/v4/posts", func(s string) object { return with(wall, object{"text": s}) }},
		{"a scheduled post", http.MethodPost, schedulePath, later},
		{
			"a change of a scheduled post", http.MethodPut, scheduled,
			func(s string) object { return object{"postData": object{"data": object{"text": s}}} },
		},
		{"a comment", http.MethodPost, "/api/v3/comments", func(s string) object { return with(comment, object{"data": object{"text": s}}) }},
		{
			"a story", http.MethodPost, storiesPath,
			func(s string) object { return with(wall, object{"dataType": "text", "data": object{"text": s}}) },
		},
		{"a story's custom text", http.MethodPost, storiesPath, func(s string) object { return item("https://allowed.example", s) }},
		{"a poll's question", http.MethodPost, pollsPath, func(s string) object { return object{"question": s, "answers": answers} }},
		{"a poll's title", http.MethodPost, pollsPath, func(s string) object { return object{"title": s, "question": "x", "answers": answers} }},
		{"a poll's answer", http.MethodPost, pollsPath, func(s string) object {
			return object{"question": "x", "answers": []object{{"data": "this"}, {"data": s}}}
		}},
		{"a stream's title", http.MethodPost, streamsPath, titled},
		{"a stream's description", http.MethodPost, streamsPath, described},
		{"a change of a stream", http.MethodPut, stream, titled},
		{"a room's title", http.MethodPost, roomsPath, titled},
		{"a room's description", http.MethodPost, roomsPath, described},
		{"a change of a room", http.MethodPut, room, described},
	}
}

// write writes a text and checks the result; 201 counts as 200.
func (w textField) write(t *testing.T, c *apptest.Client, text string, want failure) {
	t.Helper()
	r := c.Do(t, w.method, w.path, w.body(text))
	if want != (failure{}) {
		requireFailure(t, want, r)
		return
	}
	require.Less(t, r.Status, 300, "%s", r.Short())
}

// TestAllowListOfLinks writes texts of every kind with the setting off and on.
func TestAllowListOfLinks(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	addRules(t, n, allowPath, nil, `allowed\.example`, "maps.example/routes/.*")
	ways := textFields(t, alice)
	for _, w := range ways {
		w.write(t, alice, "https://evil.example", failure{})
	}
	setWhitelist(t, n, true)
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			w.write(t, alice, "https://evil.example/?allowed.example"[:30], linkRefused) // a custom text has 30 characters
			w.write(t, alice, "evil.com", linkRefused)
			w.write(t, alice, "https://www.allowed.example", failure{})
			w.write(t, alice, "no link.", failure{})
		})
	}
	posting := func(text string) object { return object{"data": object{"text": text}} }
	for text, want := range map[string]failure{
		"https://allowed.example@evil.example":        linkRefused,
		"https://ALLOWED.example:443/x?y=z#w":         {},
		"https://allowed.example.evil.example":        linkRefused,
		"https://evil.example/#https://allowed.test/": linkRefused,
		"see https://maps.example/routes/7.":          {},
		"https://maps.example/other":                  linkRefused,
		"write to me@evil.com":                        {},
		"https://allowed%2eexample":                   linkRefused,
	} {
		r := alice.Do(t, http.MethodPost, "/api/v4/posts", posting(text))
		if want == (failure{}) {
			r.OK(t)
			continue
		}
		requireFailure(t, want, r)
	}
	r := alice.Do(t, http.MethodPost, "/api/v4/posts", posting("https://user:pw@Evil.Example:80/x"))
	require.Equal(t, "the allow list has no rule for evil.example", r.String(t, "data.detail.0"))

	setWhitelist(t, n, false)
	for _, w := range ways {
		w.write(t, alice, "https://evil.example", failure{})
	}
}

// TestAllowListOfStoryLinks checks that the list applies to the link of a story in every notation.
func TestAllowListOfStoryLinks(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.US, "alice")
	addRules(t, n, allowPath, nil, "allowed.example")
	linking := func(address string) object {
		return object{
			"targetType": "user", "targetId": alice.UserID, "dataType": "text", "data": object{"text": "x"},
			"items": []object{{"type": "hyperlink", "data": object{"url": address}}},
		}
	}
	alice.Do(t, http.MethodPost, storiesPath, linking("https://evil.example/x")).OK(t)
	n.Admin(region.US).Do(t, http.MethodPut, moderationPath, object{"isWhitelistEnabled": true}).OK(t)
	awaitAllowed(t, alice, "https://allowed.example")
	alice.Do(t, http.MethodPost, storiesPath, linking("https://allowed.example/x")).OK(t)
	for _, address := range []string{"https://evil.example/x", "HTTPS://evil", "http://allowed.example.evil.example"} {
		requireFailure(t, linkRefused, alice.Do(t, http.MethodPost, storiesPath, linking(address)))
	}
	requireFailure(t, invalid("items[0].data.url"), alice.Do(t, http.MethodPost, storiesPath, linking("http://allowed.example@evil")))
}

// awaitAllowed waits until a region allows a text whose rule was added in another region.
func awaitAllowed(t *testing.T, c *apptest.Client, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return c.Do(t, http.MethodPost, "/api/v3/allowlists/verify", object{"data": []string{text}}).Status == http.StatusOK
	}, apptest.Patience, 20*time.Millisecond)
}

// TestBlockListOfWords writes blocked words in every field. No setting disables this list.
func TestBlockListOfWords(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	ways := textFields(t, alice)
	ids := addRules(t, n, blockPath, nil, "spam+y")
	addRules(t, n, blockPath, object{"isMatchExactWord": true}, "ham")
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			w.write(t, alice, "so SPAMMMY!", wordRefused)
			w.write(t, alice, "a ham.", wordRefused)
			w.write(t, alice, "a hamlet", failure{})
		})
	}
	linking := object{
		"targetType": "user", "targetId": alice.UserID, "dataType": "text", "data": object{"text": "x"},
		"items": []object{{"type": "hyperlink", "data": object{"url": "https://spammy.example/"}}},
	}
	requireFailure(t, wordRefused, alice.Do(t, http.MethodPost, storiesPath, linking))
	n.Admin(region.EU).Do(t, http.MethodPut, blockPath+"/"+ids[0], object{"isEnabled": false}).OK(t)
	alice.Do(t, http.MethodPost, storiesPath, linking).OK(t)
}

// TestListEditorsAreExempt checks that administrators and roles that may edit a list are exempt from it.
func TestListEditorsAreExempt(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	author, trusted := n.NewUser(t, region.EU, "author"), n.NewUser(t, region.EU, "trusted")
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/users", object{"userId": trusted.UserID, "roles": []string{"super-moderator"}}).OK(t)
	addRules(t, n, blockPath, nil, "spammy")
	setWhitelist(t, n, true)
	posting := object{"data": object{"text": "spammy https://evil.example"}}
	requireFailure(t, wordRefused, author.Do(t, http.MethodPost, "/api/v4/posts", posting))
	trusted.Do(t, http.MethodPost, "/api/v4/posts", posting).OK(t)
	scheduled := schedulePath + "/" + newScheduled(t, author,
		object{"scheduledAt": timeIn(time.Hour), "postData": object{"data": object{"text": "x"}}})
	n.Admin(region.EU).Do(t, http.MethodPut, scheduled,
		object{"postData": object{"targetId": author.UserID, "data": object{"text": "evil.com"}}}).OK(t)
}

// TestScheduledPostIsCheckedOnPublication checks that a scheduled post is not published if its text is no longer
// allowed.
func TestScheduledPostIsCheckedOnPublication(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	author := n.NewUser(t, region.EU, "author")
	id := newScheduled(t, author, object{"scheduledAt": timeIn(time.Hour), "postData": object{"data": object{"text": "https://evil.example"}}})
	setWhitelist(t, n, true)
	makeDue(t, n, "scheduled_posts", id)
	require.Eventually(t, func() bool {
		r := author.Do(t, http.MethodGet, schedulePath, nil).OK(t)
		require.NotEqual(t, "posted", r.String(t, "data.0.status.code"))
		return r.String(t, "data.0.status.code") == "failed" &&
			r.String(t, "data.0.status.description") == "The text contains a link that is not allowed"
	}, apptest.Patience, 50*time.Millisecond)
}

// TestAttachedTextsAreChecked checks that a poll that predates a rule cannot be attached to a post.
func TestAttachedTextsAreChecked(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	author := n.NewUser(t, region.EU, "author")
	poll := author.Do(t, http.MethodPost, pollsPath, object{"question": "evil.com?", "answers": []object{{"data": "this"}, {"data": "that"}}}).
		OK(t).String(t, "polls.0.pollId")
	stream, room := newStream(t, author, object{"title": "evil.com"}), newRoom(t, author, object{"description": "evil.com"})
	setWhitelist(t, n, true)
	for dataType, data := range map[string]object{
		"poll": {"pollId": poll}, "liveStream": {"streamId": stream["streamId"]}, "room": {"roomId": room["roomId"]},
	} {
		requireFailure(t, linkRefused, author.Do(t, http.MethodPost, "/api/v4/posts", object{"dataType": dataType, "data": data}))
	}
}

// TestModerationRules changes both lists with every operation.
func TestModerationRules(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	admin := n.Admin(region.EU)
	for _, path := range []string{allowPath, blockPath} {
		t.Run(path, func(t *testing.T) {
			newer := map[string]string{allowPath: "/api/v3/allowlists", blockPath: "/api/v3/blocklists"}[path]
			require.Empty(t, admin.Do(t, http.MethodGet, path, nil).OK(t).List(t, "data.results"))
			first := addRules(t, n, path, nil, "one.example", "two(s)?.example")
			require.Equal(t, first, addRules(t, n, path, nil, "one.example", "two(s)?.example"), "what is there stays")
			nextMillisecond()
			third := admin.Do(t, http.MethodPut, path, object{"regexs": []string{"three.example"}}).OK(t).String(t, "data.results.0.ruleId")
			nextMillisecond()
			require.True(t, admin.Do(t, http.MethodPost, newer, object{"regexs": []string{"four.example"}}).OK(t).Bool(t, "success"))

			r := admin.Do(t, http.MethodGet, path, nil).OK(t)
			require.Equal(t, "success", r.String(t, "status"))
			require.ElementsMatch(t, []string{"one.example", "two(s)?.example", "three.example", "four.example"},
				r.Strings(t, "data.results", "regex"))
			require.Equal(t, "four.example", r.String(t, "data.results.0.regex"), "the newest first")
			rule := r.Get(t, "data.results.1").(object)
			require.Equal(t, object{
				"ruleId": third, "regex": "three.example", "isMatchExactWord": false, "isEnabled": true, "isDeleted": false,
				"createdAt": rule["createdAt"], "updatedAt": rule["updatedAt"],
			}, rule)
			require.Regexp(t, timePattern, rule["createdAt"])
			require.Regexp(t, timePattern, rule["updatedAt"])

			r = admin.Do(t, http.MethodGet, newer+"?sortBy=firstCreated&options[limit]=3", nil).OK(t)
			require.Len(t, r.List(t, "results"), 3)
			require.Equal(t, "three.example", r.String(t, "results.2.regex"))
			r = admin.Do(t, http.MethodGet, newer+"?sortBy=firstCreated&options[token]="+url.QueryEscape(r.String(t, "paging.next")), nil).OK(t)
			require.Equal(t, []string{"four.example"}, r.Strings(t, "results", "regex"))
			require.NotEmpty(t, r.String(t, "paging.previous"))
			require.Equal(t, []string{"two(s)?.example"}, admin.Do(t, http.MethodGet, newer+"?regex=WO(", nil).OK(t).Strings(t, "results", "regex"))
			found := admin.Do(t, http.MethodGet, path+"?regexs=four.example&regexs=none&regexs=three.example", nil).OK(t)
			require.Equal(t, []string{"four.example", "three.example"}, found.Strings(t, "data.results", "regex"))
			found = admin.Do(t, http.MethodGet, path+"?regexs=four.example&regexs=three.example&sortBy=firstCreated", nil).OK(t)
			require.Equal(t, []string{"three.example", "four.example"}, found.Strings(t, "data.results", "regex"))

			r = admin.Do(t, http.MethodPut, path+"/"+third, object{"isEnabled": false}).OK(t)
			require.False(t, r.Bool(t, "data.isEnabled"))
			require.Equal(t, third, r.String(t, "data.ruleId"))
			require.Equal(t, rule["createdAt"], r.String(t, "data.createdAt"))
			again := admin.Do(t, http.MethodPost, path, object{"regexs": []string{"three.example"}}).OK(t)
			require.True(t, again.Bool(t, "data.results.0.isEnabled"), "added again")
			require.Equal(t, rule["createdAt"], again.String(t, "data.results.0.createdAt"))

			requireFailure(t, notFound, admin.Do(t, http.MethodDelete, path+"?ruleIds="+third+"&ruleIds="+unknownID, nil))
			deleted := path + "?ruleIds=" + third + "&ruleIds=" + third + "&ruleIds=" + first[0]
			require.True(t, admin.Do(t, http.MethodDelete, deleted, nil).OK(t).Bool(t, "data.success"))
			admin.Do(t, http.MethodDelete, path, object{"ruleIds": first[1:]}).OK(t)
			require.Equal(t, []string{"four.example"}, admin.Do(t, http.MethodGet, path, nil).OK(t).Strings(t, "data.results", "regex"))
			requireFailure(t, notFound, admin.Do(t, http.MethodDelete, path+"?ruleIds="+third, nil))
			requireFailure(t, notFound, admin.Do(t, http.MethodPut, path+"/"+third, object{"isEnabled": true}))
			require.Equal(t, first[:1], addRules(t, n, path, nil, "one.example"), "added after it was deleted")
		})
	}
}

func TestModerationRuleRefusals(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	admin, alice, anonymous := n.Admin(region.EU), n.NewUser(t, region.EU, "alice"), n.Anonymous(region.EU)
	adding := func(regexs ...string) object { return object{"regexs": regexs} }
	many := func(n int, shape string) object {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(shape, i))
		}
		return adding(all...)
	}
	id := addRules(t, n, allowPath, nil, "a.example")[0]
	var attempts []attempt
	for _, path := range []string{allowPath, blockPath} {
		attempts = append(attempts, []attempt{
			{"no expression " + path, admin, http.MethodPost, path, adding("("), invalid("regexs[0]")},
			{"one of two is none " + path, admin, http.MethodPost, path, adding("b.example", "(?=x)"), invalid("regexs[1]")},
			{"a group that ends another " + path, admin, http.MethodPost, path, adding("a)|(?:.*"), invalid("regexs[0]")},
			{"an empty one " + path, admin, http.MethodPost, path, adding(""), invalid("regexs[0]")},
			{"blanks " + path, admin, http.MethodPost, path, adding(" "), invalid("regexs[0]")},
			{"500 characters " + path, admin, http.MethodPost, path, adding("(" + strings.Repeat("é", 498) + ")"), failure{}},
			{"501 characters " + path, admin, http.MethodPost, path, adding(strings.Repeat("é", 501)), invalid("regexs[0]")},
			{"100 of them " + path, admin, http.MethodPost, path, many(100, "%d-example"), failure{}},
			{"101 of them " + path, admin, http.MethodPost, path, many(101, "%d-example"), invalid("regexs")},
			{"none of them " + path, admin, http.MethodPost, path, adding(), failure{}},
			{"a NUL " + path, admin, http.MethodPost, path, adding("a\x00b"), failure{status: 422, code: 500000}},
			{"by a user " + path, alice, http.MethodPost, path, adding("b.example"), notAllowed},
			{"by an anonymous caller " + path, anonymous, http.MethodPost, path, adding("b.example"), unauthorized},
			{"read by a user " + path, alice, http.MethodGet, path, nil, notAllowed},
			{"by another order " + path, admin, http.MethodGet, path + "?sortBy=name", nil, invalid("sortBy")},
			{"a bad token " + path, admin, http.MethodGet, path + "?options[token]=x", nil, invalid("options.token")},
			{"delete nothing " + path, admin, http.MethodDelete, path, nil, invalid("ruleIds")},
			{"enable nothing " + path, admin, http.MethodPut, path + "/" + id, object{}, invalid("isEnabled")},
			{"enable an unknown one " + path, admin, http.MethodPut, path + "/" + unknownID, object{"isEnabled": true}, notFound},
			{"enable an invalid id " + path, admin, http.MethodPut, path + "/x", object{"isEnabled": true}, notFound},
		}...)
	}
	requireAttempts(t, append(attempts,
		attempt{"a word that every text holds", admin, http.MethodPost, blockPath, adding("a*"), invalid("regexs[0]")},
		attempt{"no host", admin, http.MethodPost, allowPath, adding("/x"), invalid("regexs[0]")},
		attempt{"verify nothing", alice, http.MethodPost, "/api/v3/allowlists/verify", object{"data": []string{}}, invalid("data")},
		attempt{
			"verify too much", alice, http.MethodPost, "/api/v3/blocklists/verify",
			object{"data": []string{strings.Repeat("a", 501)}},
			invalid("data[0]"),
		},
		attempt{"verify anonymously", anonymous, http.MethodPost, "/api/v3/allowlists/verify", object{"data": []string{"x"}}, unauthorized},
	))
}

// TestModerationListIsFull fills a list up to its limit.
func TestModerationListIsFull(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	add := func(from, count int, shape string) *apptest.Response {
		var regexs []string
		for i := range count {
			regexs = append(regexs, fmt.Sprintf(shape, from+i))
		}
		return n.Admin(region.SG).Do(t, http.MethodPost, blockPath, object{"regexs": regexs})
	}
	add(0, 100, "expression(s)? %d").OK(t)
	requireFailure(t, invalid("regexs"), add(100, 1, "expression(s)? %d"))
	for from := 0; from < 900; from += 100 {
		add(from, 100, "word %d").OK(t)
	}
	requireFailure(t, invalid("regexs"), add(900, 1, "word %d"))
	add(0, 1, "word %d").OK(t)
	r := n.Admin(region.SG).Do(t, http.MethodGet, blockPath, nil).OK(t)
	require.Len(t, r.List(t, "data.results"), 100)
	n.Admin(region.SG).Do(t, http.MethodDelete, blockPath, object{"ruleIds": r.Strings(t, "data.results", "ruleId")[:1]}).OK(t)
	add(900, 1, "word %d").OK(t)
}

// TestModerationRulesReachEveryRegion changes rules in one region and checks that the others apply them.
func TestModerationRulesReachEveryRegion(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	verify := func(code region.Code) int {
		return alice.At(code).Do(t, http.MethodPost, "/api/v3/blocklists/verify", object{"data": []string{"spammy"}}).Status
	}
	everywhere := func(status int) {
		t.Helper()
		require.Equal(t, status, verify(region.EU), "true at once where it was changed")
		for _, code := range region.All() {
			require.Eventually(t, func() bool { return verify(code) == status }, apptest.Patience, 10*time.Millisecond, code.String())
		}
	}
	everywhere(http.StatusOK)
	id := addRules(t, n, blockPath, nil, "spammy")[0]
	everywhere(http.StatusBadRequest)
	n.Admin(region.EU).Do(t, http.MethodPut, blockPath+"/"+id, object{"isEnabled": false}).OK(t)
	everywhere(http.StatusOK)
	n.Admin(region.EU).Do(t, http.MethodPut, blockPath+"/"+id, object{"isEnabled": true}).OK(t)
	everywhere(http.StatusBadRequest)
	n.Admin(region.EU).Do(t, http.MethodDelete, blockPath, object{"ruleIds": []string{id}}).OK(t)
	everywhere(http.StatusOK)
}

// TestVerifyTexts verifies texts without writing them.
func TestVerifyTexts(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	addRules(t, n, allowPath, nil, "allowed.example")
	addRules(t, n, blockPath, nil, "spammy")
	verify := func(by *apptest.Client, list string, texts ...string) *apptest.Response {
		return by.Do(t, http.MethodPost, "/api/v3/"+list+"/verify", object{"data": texts})
	}
	verify(alice, "allowlists", "https://evil.example").OK(t)
	setWhitelist(t, n, true)
	require.True(t, verify(alice, "allowlists", "https://allowed.example", "spammy").OK(t).Bool(t, "success"))
	requireFailure(t, linkRefused, verify(alice, "allowlists", "https://allowed.example", "https://evil.example"))
	requireFailure(t, linkRefused, verify(n.Admin(region.EU), "allowlists", "https://evil.example"))
	require.True(t, verify(alice, "blocklists", "https://evil.example").OK(t).Bool(t, "success"))
	requireFailure(t, wordRefused, verify(alice, "blocklists", "x", "SPAMMY"))
	requireFailure(t, wordRefused, verify(n.Admin(region.EU), "blocklists", "spammy"))
}
