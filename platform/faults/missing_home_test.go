package faults

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
)

// mergedList is a list with rows of all homes.
type mergedList struct {
	path, token string // the name of the parameter
	rows, id    string
}

var mergedLists = map[string]mergedList{
	"communities":    {"/api/v3/communities?sortBy=lastCreated", "options[token]", "communities", "communityId"},
	"by name":        {"/api/v3/communities?sortBy=displayName", "options[token]", "communities", "communityId"},
	"following feed": {"/api/v1/me/following-feeds?sortBy=lastCreated", "token", "posts", "postId"},
}

// mergedPages reads the pages of a list.
type mergedPages struct {
	*testing.T
	mergedList
	reader *apptest.Client
	limit  string
	token  string
	ids    []string
}

// next reads the next page, which must not be empty.
func (p *mergedPages) next() *apptest.Response {
	p.Helper()
	query := url.Values{"limit": {p.limit}}
	if p.mergedList.token != "token" {
		query = url.Values{"options[limit]": {p.limit}}
	}
	if p.token != "" {
		query = url.Values{p.mergedList.token: {p.token}}
	}
	answer := p.reader.Do(p, http.MethodGet, p.path+"&"+query.Encode(), nil).OK(p)
	ids := answer.Strings(p, p.rows, p.id)
	require.NotEmpty(p, ids, "a page in the middle of the list")
	p.ids, p.token = append(p.ids, ids...), ""
	if answer.Has(p, "paging.next") {
		p.token = answer.String(p, "paging.next")
	}
	return answer
}

func (p *mergedPages) rest() {
	p.Helper()
	for p.token != "" {
		p.next()
	}
}

// TestPagesContinueWhereAHomeWasMissing pages through lists while eu is cut off for some pages. These pages say so, and the
// next ones begin with what they lack: each row comes once.
func TestPagesContinueWhereAHomeWasMissing(t *testing.T) {
	n, p := startWithProxy(t)
	reader := n.NewUser(t, region.US, "reader")
	var communities []string
	for range 4 {
		for _, home := range region.All() {
			owner := n.NewUser(t, home, "owner")
			id := owner.NewCommunity(t)
			reader.Join(t, id)
			owner.NewPost(t, id)
			communities = append(communities, id)
		}
	}
	inEU := communities[1]
	require.Eventually(t, func() bool { // the home of the reader knows all memberships
		page := reader.Do(t, http.MethodGet, "/api/v1/me/following-feeds?sortBy=lastCreated&limit=100", nil).OK(t)
		return len(page.List(t, "posts")) == len(communities)
	}, time.Minute, 20*time.Millisecond)
	for name, list := range mergedLists {
		t.Run(name, func(t *testing.T) {
			pages := func(limit string) *mergedPages {
				return &mergedPages{T: t, mergedList: list, reader: reader, limit: limit}
			}
			all := pages("100")
			require.Empty(t, all.next().Header.Values(edge.HeaderMissingHomes))
			require.Len(t, all.ids, len(communities))

			some := pages("2")
			some.next()
			whileCut(t, p, reader, inEU, func() {
				require.Equal(t, "eu", some.next().Header.Get(edge.HeaderMissingHomes))
				require.Equal(t, "eu", some.next().Header.Get(edge.HeaderMissingHomes))
			})
			some.rest()
			require.ElementsMatch(t, all.ids, some.ids)

			most := pages("100")
			whileCut(t, p, reader, inEU, func() {
				most.next()
				require.Len(t, most.ids, 8)
				refused := reader.Do(t, http.MethodGet, list.path+"&"+url.Values{list.token: {most.token}}.Encode(), nil)
				require.Equal(t, http.StatusServiceUnavailable, refused.Status, "only rows of eu remain")
			})
			most.rest()
			require.ElementsMatch(t, all.ids, most.ids)
		})
	}
}

// whileCut runs f while the home eu is cut off, and then waits until it answers.
func whileCut(t *testing.T, p *proxy.Proxy, reader *apptest.Client, inEU string, f func()) {
	t.Helper()
	p.Cut()
	f()
	p.Restore()
	require.Eventually(t, func() bool {
		return reader.Do(t, http.MethodGet, "/api/v3/communities/"+inEU, nil).Status == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
}
