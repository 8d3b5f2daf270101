package conformance

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

// listing is a list operation with its parameters.
type listing struct {
	by    *apptest.Client
	path  string
	query url.Values
	// list is the path of the page in the answer, id the field with the ids of its rows, paging the path of the tokens.
	list, id, paging string
}

func (l listing) page(t *testing.T, parameters url.Values) *apptest.Response {
	t.Helper()
	query := url.Values{}
	for _, values := range []url.Values{l.query, parameters} {
		maps.Copy(query, values)
	}
	return l.by.Do(t, http.MethodGet, l.path+"?"+query.Encode(), nil).OK(t)
}

func (l listing) ids(t *testing.T, r *apptest.Response) []string {
	t.Helper()
	return r.Strings(t, l.list, l.id)
}

// token returns paging.next or paging.previous; empty if there is no such page.
func (l listing) token(t *testing.T, r *apptest.Response, direction string) string {
	t.Helper()
	at := l.paging
	if at == "" {
		at = "paging"
	}
	token := r.String(t, at+"."+direction)
	require.LessOrEqual(t, len(token), 1000, "a page token has at most 1,000 characters")
	return token
}

// walk reads page after page in one direction, as public clients do: the first request has a limit, the others have
// the token instead. Some of them lack the other parameters too, or have the token as clients encode it again.
func (l listing) walk(t *testing.T, first *apptest.Response, direction string) [][]string {
	t.Helper()
	pages := [][]string{l.ids(t, first)}
	r := first
	for token := l.token(t, r, direction); token != ""; token = l.token(t, r, direction) {
		require.Less(t, len(pages), 100, "the list does not end")
		next := l
		switch len(pages) % 3 {
		case 1:
			next.query = nil
		case 2:
			token = encodedAgain(t, token)
		}
		r = next.page(t, url.Values{"options[token]": {token}})
		pages = append(pages, l.ids(t, r))
	}
	return pages
}

// last returns the last page.
func (l listing) last(t *testing.T, first *apptest.Response) *apptest.Response {
	t.Helper()
	for token := l.token(t, first, "next"); token != ""; token = l.token(t, first, "next") {
		first = l.page(t, url.Values{"options[token]": {token}})
	}
	return first
}

// requirePages reads a list forwards and backwards with limit rows per page, and checks that it has the rows of
// want, each once. want must have more than two pages.
func (l listing) requirePages(t *testing.T, limit int, want []string) {
	t.Helper()
	require.Greater(t, len(want), 2*limit, "the list has more than two pages")
	first := l.page(t, url.Values{"options[limit]": {strconv.Itoa(limit)}})
	require.Empty(t, l.token(t, first, "previous"), "there is nothing before the first page")
	pages := l.walk(t, first, "next")
	require.Len(t, pages, (len(want)+limit-1)/limit, "%v", pages)
	for _, page := range pages[:len(pages)-1] {
		require.Len(t, page, limit)
	}
	require.Equal(t, want, slices.Concat(pages...))

	back := l.walk(t, l.last(t, first), "previous")
	slices.Reverse(back)
	require.Equal(t, pages, back, "the way back shows the same pages")
}

// requireOrder checks the rows of one page.
func (l listing) requireOrder(t *testing.T, want []string) {
	t.Helper()
	require.Equal(t, want, l.ids(t, l.page(t, url.Values{"options[limit]": {"100"}})))
}

// as returns the same list for another caller.
func (l listing) as(by *apptest.Client) listing {
	l.by = by
	return l
}

// with returns the list with another parameter.
func (l listing) with(name string, values ...string) listing {
	query := url.Values{}
	maps.Copy(query, l.query)
	query[name] = values
	l.query = query
	return l
}

// requireLimits checks the limits of options[limit] and options[token].
func (l listing) requireLimits(t *testing.T) {
	t.Helper()
	get := func(name, value string) *apptest.Response {
		query := l.with(name, value).query
		return l.by.Do(t, http.MethodGet, l.path+"?"+query.Encode(), nil)
	}
	require.LessOrEqual(t, len(l.ids(t, get("options[limit]", "1").OK(t))), 1)
	get("options[limit]", "100").OK(t)
	for _, wrong := range []string{"0", "101", "-1", "many"} {
		requireFailure(t, invalid("options.limit"), get("options[limit]", wrong))
	}
	for _, wrong := range []string{"x", "not a token", strings.Repeat("A", 100), strings.Repeat("A", 101), strings.Repeat("A", 1001)} {
		requireFailure(t, invalid("options.token"), get("options[token]", wrong))
	}
}

// encodedAgain returns a token as clients send it that read its fields and rename one.
func encodedAgain(t *testing.T, token string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(token)
	require.NoError(t, err)
	var read struct {
		Skip  string
		Limit int
	}
	require.NoError(t, json.Unmarshal(raw, &read))
	return base64Of(t, object{"after": read.Skip, "limit": read.Limit})
}

func reversed(ids []string) []string {
	out := slices.Clone(ids)
	slices.Reverse(out)
	return out
}
