package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const flagListPath = "/api/v1/moderation/flags"

func flagRows() []row {
	item := func(request func(*testing.T, *fixture) object, more ...object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			id := text(request(t, g), "id")
			g.boss.Do(t, http.MethodPost, "/api/v3/posts/"+id+"/flag", nil).OK(t)
			return with(object{"targetId": id}, more...)
		}
	}
	onWall := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"id": newWallPost(t, g.author)}
	}
	seen := codesFor(400400, 400400, 0, 400400, 0)
	hidden := codesFor(400400, 400400, 400400, 400400, 0)
	return []row{
		{procedure: "FlagService/ListFlags", request: noFields, want: adminsOnly},
		{procedure: "FlagService/ListFlagItems", request: noFields, want: adminsOnly},
		{procedure: "FlagService/ListFlagItems", name: "of a community", request: aCommunity("communityId", false), want: moderators},
		{
			procedure: "FlagService/ListFlagItems", name: "of a private community", request: aCommunity("communityId", true),
			want: codesFor(400301, 400300, 0, 400304, 0),
		},
		{procedure: "FlagService/CountFlagItems", request: noFields, want: adminsOnly},
		{procedure: "FlagService/CountFlagItems", name: "of a community", request: aCommunity("communityId", false), want: moderators},
		{procedure: "FlagService/GetFlagItem", request: item(aPost("id", false)), want: seen},
		{procedure: "FlagService/GetFlagItem", name: "on a wall", request: item(onWall), want: hidden},
		{procedure: "FlagService/ClaimFlagItem", request: item(aPost("id", false)), want: codesFor(400400, 400400, 0, 400400, 400300)},
		{procedure: "FlagService/ReleaseFlagItem", request: item(aPost("id", false)), want: seen},
		{procedure: "FlagService/ResolveFlagItem", request: item(aPost("id", false), object{"outcome": "dismissed"}), want: seen},
		{procedure: "FlagService/ResolveFlagItem", name: "on a wall", request: item(onWall, object{"outcome": "dismissed"}), want: hidden},
		{procedure: "FlagService/AddFlagNote", request: item(aPost("id", false), object{"text": "x"}), want: seen},
	}
}

// TestListFlags flags objects of several kinds and regions and lists the flags with their reasons. It uses a network of
// its own because it lists all flags.
func TestListFlags(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	author, reader := n.NewUser(t, region.US, "author"), n.NewUser(t, region.SG, "reader")
	community := newCommunity(t, author.At(region.EU))
	post := newPost(t, author, community)
	comment := newComment(t, author, post)
	wallPost := newWallPost(t, author)
	for i, path := range []string{
		"/api/v3/posts/" + post + "/flag", "/api/v3/comments/" + comment + "/flag",
		"/api/v3/posts/" + wallPost + "/flag", myFlagsPath + author.UserID,
	} {
		nextMillisecond()
		reader.Do(t, http.MethodPost, path, object{"reason": []string{"Spam", "Others"}[i%2], "detail": "because"}).OK(t)
	}
	staff := n.NewUser(t, region.EU, "staff")
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/users", object{"userId": staff.UserID, "roles": []string{"moderator"}}).OK(t)
	all := []string{author.InternalID, wallPost, comment, post}
	for _, by := range []*apptest.Client{staff, n.Admin(region.SG)} {
		l := listing{by: by, path: flagListPath, list: "flags", id: "targetId"}
		l.requirePages(t, 1, all)
		l.with("targetType", "post").requireOrder(t, []string{wallPost, post})
		l.with("targetType", "story").requireOrder(t, []string{})
		l.with("reason", "Others").requireOrder(t, []string{author.InternalID, comment})
		l.with("reason", "Others").with("targetType", "comment").requireOrder(t, []string{comment})
		l.with("targetId", post).requireOrder(t, []string{post})
		l.with("region", "eu").requireOrder(t, []string{comment, post})
		l.with("region", "us").requireOrder(t, []string{author.InternalID, wallPost})
		l.requireLimits(t)
	}
	first := staff.Do(t, http.MethodGet, flagListPath+"?targetId="+comment, nil).OK(t)
	require.Subset(t, first.Get(t, "flags.0"), object{
		"targetType": "comment", "targetId": comment, "userId": reader.UserID, "userInternalId": reader.InternalID, "reason": "Others",
		"detail": "because", "region": "eu",
	})
	require.Equal(t, []string{reader.UserID}, first.Strings(t, "users", "userId"))
	reader.Do(t, http.MethodDelete, "/api/v3/comments/"+comment+"/unflag", nil).OK(t)
	require.Empty(t, staff.Do(t, http.MethodGet, flagListPath+"?targetId="+comment, nil).OK(t).List(t, "flags"))
	requireAttempts(t, []attempt{
		{"by a user", reader, http.MethodGet, flagListPath, nil, notAllowed},
		{"an unknown kind", staff, http.MethodGet, flagListPath + "?targetType=room", nil, invalid("targetType")},
		{"an unknown region", staff, http.MethodGet, flagListPath + "?region=mars", nil, invalid("region")},
		{"a long reason", staff, http.MethodGet, flagListPath + "?reason=" + longText(301), nil, invalid("reason")},
	})
}
