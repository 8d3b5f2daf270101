//go:build faults

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
	reader      string // a user, or the administrator if empty
}

var mergedLists = map[string]mergedList{
	"communities":         {"/api/v3/communities?sortBy=lastCreated", "options[token]", "communities", "communityId", "reader"},
	"communities by name": {"/api/v3/communities?sortBy=displayName", "options[token]", "communities", "communityId", "reader"},
	"my communities": {
		"/api/v3/communities?filter=member&sortBy=lastCreated", "options[token]", "communities", "communityId",
		"reader",
	},
	"my communities by name": {
		"/api/v3/communities?filter=member&sortBy=displayName", "options[token]", "communities", "communityId",
		"reader",
	},
	"following feed": {"/api/v1/me/following-feeds?sortBy=lastCreated", "token", "posts", "postId", "reader"},
	"flags":          {"/api/v1/moderation/flags?reason=Spam", "options[token]", "flags", "targetId", ""},
	"my invitations": {"/api/v1/invitations/me?sortBy=lastCreated", "options[token]", "invitations", "_id", "guest"},
	"my invitations by status": {
		"/api/v1/invitations/me?statuses[]=pending&statuses[]=approved", "options[token]", "invitations", "_id",
		"guest",
	},
	"channels":         {"/api/v3/channels?sortBy=lastActivity", "options[token]", "channels", "channelId", "reader"},
	"channels by name": {"/api/v3/channels?sortBy=displayName", "options[token]", "channels", "channelId", "reader"},
	"my channels":      {"/api/v3/channels?filter=member&sortBy=firstCreated", "options[token]", "channels", "channelId", "reader"},
	"all channels":     {"/api/v3/channels?sortBy=lastCreated", "options[token]", "channels", "channelId", ""},
	"users":            {"/api/v3/users?keyword=owner", "options[token]", "users", "userId", "reader"},
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
	reader, guest := n.NewUser(t, region.US, "reader"), n.NewUser(t, region.US, "guest")
	readers := map[string]*apptest.Client{"": n.Admin(region.US), "reader": reader, "guest": guest}
	var communities []string
	for range 4 {
		for _, home := range region.All() {
			owner := n.NewUser(t, home, "owner")
			id := owner.NewCommunity(t)
			reader.Join(t, id)
			flagged := owner.NewPost(t, id)
			post(t, reader, "/api/v3/posts/"+flagged+"/flag", object{"reason": "Spam"})
			post(t, owner, "/api/v1/invitations", object{
				"type": "communityMemberInvite", "targetType": "community", "targetId": id, "userIds": []string{guest.UserID},
			})
			post(t, owner, "/api/v3/channels", object{"type": "community", "displayName": owner.UserID, "userIds": []string{reader.UserID}})
			communities = append(communities, id)
		}
	}
	inEU := communities[1]
	require.Eventually(t, func() bool { // the home of the reader knows all memberships
		page := reader.Do(t, http.MethodGet, "/api/v1/me/following-feeds?sortBy=lastCreated&limit=100", nil).OK(t)
		return len(page.List(t, "posts")) == len(communities)
	}, apptest.Patience, 20*time.Millisecond)
	for name, list := range mergedLists {
		t.Run(name, func(t *testing.T) {
			pages := func(limit string) *mergedPages {
				return &mergedPages{T: t, mergedList: list, reader: readers[list.reader], limit: limit}
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
				refused := most.reader.Do(t, http.MethodGet, list.path+"&"+url.Values{list.token: {most.token}}.Encode(), nil)
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
	}, apptest.Patience, 20*time.Millisecond)
}
