package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// copiesOfRow is more than the rows among which a page of a list with a rare filter is looked for.
const copiesOfRow = 45_000

// matchingCopies are the copies that the filter of a list selects: in the first window of 1,000 rows, in the second one, and after
// both of them.
var matchingCopies = []int{10, 1_500, 12_000, 24_000, 44_000}

// copyRow is copyRowTimes for copiesOfRow copies.
func copyRow(t *testing.T, conn *pgx.Conn, table, where string, set, matching map[string]string) {
	t.Helper()
	copyRowTimes(t, conn, copiesOfRow, table, where, set, matching)
	_, err := conn.Exec(t.Context(), "ANALYZE "+table)
	require.NoError(t, err)
}

// copyRowTimes copies a row of a table, each a second older, with the id made of the number n of the copy. set are
// expressions for other columns, and matching those for the matching copies.
func copyRowTimes(t *testing.T, conn *pgx.Conn, times int, table, where string, set, matching map[string]string) {
	t.Helper()
	all := map[string]string{"created_at": "created_at - n * INTERVAL '1 second'"}
	maps.Copy(all, set)
	for column, value := range matching {
		all[column] = fmt.Sprintf("CASE WHEN n = ANY($2::bigint[]) THEN %s ELSE %s END", value, cmp.Or(all[column], column))
	}
	rows, err := conn.Query(t.Context(), `SELECT column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position`, table)
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	values := slices.Clone(columns)
	for i, column := range columns {
		if all[column] != "" {
			values[i] = all[column]
		}
	}
	tag,
		err := conn.Exec(t.Context(),
		fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s, generate_series(1, $1::bigint) AS n WHERE cardinality($2::bigint[]) > 0 AND %s",
			table, strings.Join(columns, ", "), strings.Join(values, ", "), table, where), times, matchingCopies)
	require.NoError(t, err)
	require.EqualValues(t, times, tag.RowsAffected())
}

// copyID is the expression for the id of a copy, which has the home of the row.
func copyID(column string) string { return "left(" + column + ", 2) || lpad(n::text, 22, '0')" }

// copyNumber returns the number of the copy with an id.
func copyNumber(t *testing.T, id string) int {
	t.Helper()
	var n int
	_, err := fmt.Sscanf(strings.TrimLeft(id[2:], "0"), "%d", &n)
	require.NoError(t, err, id)
	return n
}

// TestEmptyFirstPages reads lists whose filter selects none of the first 20,000 rows, to their end and back to their beginning.
func TestEmptyFirstPages(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	conn := connectTo(t, n)
	boss := n.NewUser(t, region.EU, "boss")
	post := newPost(t, boss, newCommunity(t, boss))
	copyRow(t, conn, "posts", "id = '"+post+"'", map[string]string{"id": copyID("id")}, nil)
	copyRow(t, conn, "users", "id = '"+boss.InternalID+"'", map[string]string{"id": copyID("id"), "public_id": copyID("id")}, nil)
	for _, table := range []string{"posts", "users"} {
		_, err := conn.Exec(t.Context(), "UPDATE "+table+" SET deleted_at = created_at WHERE id LIKE '%044000'")
		require.NoError(t, err)
	}
	community := boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).String(t, "posts.0.targetId")
	for path, list := range map[string]string{
		"/api/v5/posts?targetType=community&isDeleted=true&targetId=" + community: "posts",
		"/api/v3/users?isDeleted=true&sortBy=lastCreated":                         "users",
	} {
		var sizes []int
		token, way := "", "next"
		for range 12 {
			r := boss.Do(t, http.MethodGet, path+"&options[limit]=2&options[token]="+url.QueryEscape(token), nil).OK(t)
			sizes = append(sizes, len(r.List(t, list)))
			paging := r.Get(t, "paging").(object)
			next, _ := paging[way].(string)
			if next == "" {
				way = map[string]string{"next": "previous", "previous": "next"}[way]
				next, _ = paging[way].(string)
			}
			require.NotEmpty(t, next, "%s %v: each page leads to another one", path, sizes)
			token = next
		}
		require.Equal(t, []int{0, 0, 1, 0, 0}, sizes[:5], path)
		require.Contains(t, sizes[5:], 1, path)
	}
}

// TestRareFilters reads lists whose filter selects five of 45,000 rows: each page looks at 20,000 rows at most, and its token leads to
// the following ones, in both directions.
func TestRareFilters(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	conn := connectTo(t, n)
	boss, reader := n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "reader")
	community := newCommunity(t, boss)
	add(t, boss, community, reader)
	post := newPost(t, boss, community, object{"data": object{"text": "ok"}}) // too short for a key of beginnings of words
	comment := newComment(t, boss, post)
	n.Admin(region.US).Do(t, http.MethodPut, socialPath, object{"showEveryonePost": true}).OK(t)
	chat := newChat(t, boss, reader)
	chat.newMessage(t, boss, "hello")
	channel := boss.Do(t, http.MethodPost, channelsPath,
		object{"displayName": "channel", "isPublic": true, "userIds": []string{reader.UserID}}).OK(t).String(t, "channels.0.channelId")
	quoted := func(s string) string { return "'" + s + "'" }
	tagged := map[string]string{"tags": "ARRAY['rare']"}
	copyRow(t, conn, "posts", "id = "+quoted(post), map[string]string{"id": copyID("id")},
		map[string]string{"tags": "ARRAY['rare']", "data_type": "'image'", "structure_type": "'image'"})
	copyRow(t, conn, "search_words", "object_id = "+quoted(post), map[string]string{"object_id": copyID("object_id")}, nil)
	copyRow(t, conn, "comments", "id = "+quoted(comment), map[string]string{"id": copyID("id")},
		map[string]string{"data_types": "ARRAY['image']"})
	copyRow(t, conn, "messages", "feed_id = "+quoted(chat.id), map[string]string{
		"id": copyID("id"), "reference_id": "'copy' || n::text", "reference_hash": "decode(md5(n::text), 'hex')",
		"segment": fmt.Sprintf("%d - n", copiesOfRow+2),
	}, tagged)
	copyRow(t, conn, "users", "id = "+quoted(boss.InternalID), map[string]string{"id": copyID("id"), "public_id": copyID("id")},
		map[string]string{"deleted_at": "created_at"})
	copyRow(t, conn, "community_members", "community_id = "+quoted(community)+" AND user_id = "+quoted(reader.InternalID),
		map[string]string{"user_id": copyID("user_id"), "user_public_id": copyID("user_id")}, map[string]string{"roles": "ARRAY['rare']"})
	copyRow(t, conn, "communities", "id = "+quoted(community),
		map[string]string{"id": copyID("id"), "is_public": "false", "is_discoverable": "false"},
		map[string]string{"tags": "ARRAY['rare']", "is_public": "true"})
	copyRow(t, conn, "channels", "public_id = "+quoted(channel), map[string]string{"id": copyID("id"), "public_id": copyID("id")}, tagged)
	copyRow(t, conn, "channel_users", "channel_id = (SELECT id FROM channels WHERE public_id = "+quoted(channel)+") AND user_id = "+
		quoted(boss.InternalID),
		map[string]string{"user_id": copyID("user_id"), "user_public_id": copyID("user_id")}, map[string]string{"roles": "ARRAY['rare']"})

	for name, l := range map[string]rareList{
		"posts by tag": {
			"/api/v5/posts", "posts", "postId",
			url.Values{"targetId": {community}, "targetType": {"community"}, "tags[]": {"rare"}},
		},
		"posts of an author": {
			"/api/v4/user-feeds/" + boss.UserID, "posts", "postId",
			url.Values{"includePostedFeed[]": {"community"}, "dataTypes[]": {"image"}},
		},
		"search by type":   {"/api/v1/search/posts", "posts", "postId", url.Values{"query": {"ok"}, "dataTypes[]": {"image"}}},
		"everyone's posts": {globalFeedPath, "posts", "postId", url.Values{"dataTypes[]": {"image"}}},
		"comments by type": {
			commentsPath, "comments", "commentId",
			url.Values{"referenceId": {post}, "referenceType": {"post"}, "dataTypes[values][]": {"image"}},
		},
		"messages by tag":    {messagesPath, "messages", "messageId", url.Values{"messageFeedId": {chat.id}, "includeTags[]": {"rare"}}},
		"deleted users":      {"/api/v3/users", "users", "userId", url.Values{"isDeleted": {"true"}, "sortBy": {"lastCreated"}}},
		"members by role":    {membersPath(community), "communityUsers", "userId", url.Values{"roles[]": {"rare"}}},
		"communities by tag": {communitiesPath, "communities", "communityId", url.Values{"tags[]": {"rare"}, "sortBy": {"lastCreated"}}},
		"public communities": {communitiesPath, "communities", "communityId", url.Values{"filter": {"notMember"}, "sortBy": {"lastCreated"}}},
		"channels by tag":    {channelsPath, "channels", "channelId", url.Values{"tags[]": {"rare"}, "sortBy": {"lastCreated"}}},
		"users of a channel": {"/api/v3/channels/" + channel + "/users", "channelUsers", "userId", url.Values{"roles[]": {"rare"}}},
	} {
		t.Run(name, func(t *testing.T) { l.requirePages(t, reader) })
	}
}

// rareList is a list that selects matchingCopies.
type rareList struct {
	path, list, id string
	query          url.Values
}

// requirePages reads the list page by page to its end and back.
func (l rareList) requirePages(t *testing.T, reader *apptest.Client) {
	t.Helper()
	read := func(token string) ([]int, *apptest.Response) {
		query := maps.Clone(l.query)
		query.Set("options[limit]", "2")
		if token != "" {
			query.Set("options[token]", token)
		}
		r := reader.Do(t, http.MethodGet, l.path+"?"+query.Encode(), nil).OK(t)
		var found []int
		for _, id := range r.Strings(t, l.list, l.id) {
			found = append(found, copyNumber(t, id))
		}
		return found, r
	}
	token := func(r *apptest.Response, name string) string {
		text, _ := r.Get(t, "paging").(object)[name].(string)
		return text
	}
	var forward [][]int
	var last *apptest.Response
	for next := ""; len(forward) == 0 || next != ""; next = token(last, "next") {
		var found []int
		found, last = read(next)
		forward = append(forward, found)
		require.LessOrEqual(t, len(forward), 10)
	}
	require.Equal(t, matchingCopies, slices.Concat(forward...))
	require.Equal(t, []int{10, 1_500}, forward[0])
	require.Greater(t, len(forward), 3, "a page looks at 20,000 rows at most")
	var backward []int
	for previous := token(last, "previous"); previous != ""; previous = token(last, "previous") {
		var found []int
		found, last = read(previous)
		backward = slices.Concat(found, backward)
		require.LessOrEqual(t, len(backward), 10)
	}
	require.Equal(t, matchingCopies[:len(matchingCopies)-len(forward[len(forward)-1])], backward)
}

// TestRareRows reads lists that leave out nearly all of 45,000 rows without a parameter for which they would look for rows in
// windows from the beginning: those that are deleted or hidden. It is not parallel, because it inserts 270,000 rows.
func TestRareRows(t *testing.T) {
	n := apptest.Start(t)
	conn := connectTo(t, n)
	boss, reader := n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "reader")
	community := newCommunity(t, boss)
	add(t, boss, community, reader)
	post := newPost(t, boss, community)
	discussed := newPost(t, boss, newCommunity(t, boss))
	comment := newComment(t, boss, discussed)
	chat := newChat(t, boss, reader)
	message, subchannel := chat.newMessage(t, boss, "hello"), chat.subchannel(t, boss, "second")
	story := newStory(t, boss, community)
	channel := boss.Do(t, http.MethodPost, channelsPath,
		object{"displayName": "channel", "isPublic": true, "userIds": []string{boss.UserID}}).OK(t).String(t, "channels.0._id")
	for table, row := range map[string]struct {
		id               string
		copies, matching map[string]string
	}{
		"posts":    {post, map[string]string{"deleted_at": "created_at"}, map[string]string{"deleted_at": "NULL"}},
		"comments": {comment, map[string]string{"deleted_at": "created_at"}, map[string]string{"deleted_at": "NULL"}},
		"message_feeds": {
			subchannel,
			map[string]string{"last_message_at": "created_at - n * INTERVAL '1 second'", "deleted_at": "created_at"},
			map[string]string{"deleted_at": "NULL"},
		},
		"messages": {message, map[string]string{
			"reference_id": "'copy' || n::text", "reference_hash": "decode(md5(n::text), 'hex')", "segment": fmt.Sprintf("%d - n", copiesOfRow+2),
			"deleted_at": "created_at",
		}, map[string]string{"deleted_at": "NULL"}},
		"stories": {
			story,
			map[string]string{"created_at": "created_at - n * INTERVAL '1 millisecond'", "hidden_at": "created_at"},
			map[string]string{"hidden_at": "NULL"},
		},
		"channels": {channel, map[string]string{"public_id": copyID("id"), "deleted_at": "created_at"}, map[string]string{"deleted_at": "NULL"}},
	} {
		row.copies["id"] = copyID("id")
		copyRow(t, conn, table, "id = '"+row.id+"'", row.copies, row.matching)
		_, err := conn.Exec(t.Context(), "DELETE FROM "+table+" WHERE id = $1", row.id)
		require.NoError(t, err)
	}
	for name, l := range map[string]rareList{
		"posts": {
			"/api/v5/posts", "posts", "postId",
			url.Values{"targetId": {community}, "targetType": {"community"}, "isDeleted": {"false"}},
		},
		"comments": {
			commentsPath, "comments", "commentId",
			url.Values{"referenceId": {discussed}, "referenceType": {"post"}, "isDeleted": {"false"}},
		},
		"messages": {messagesPath, "messages", "messageId", url.Values{"messageFeedId": {chat.id}, "isDeleted": {"false"}}},
		"subchannels": {
			subchannelsPath + "/channel/" + chat.id, "messageFeeds", "messageFeedId",
			url.Values{"isDeleted": {"false"}, "excludeDefaultMessageFeed": {"true"}},
		},
		"stories": {storiesPath, "stories", "storyId", url.Values{"targetId": {community}, "targetType": {"community"}}},
		"channels": {
			channelsPath, "channels", "channelId",
			url.Values{"filter": {"notMember"}, "sortBy": {"lastCreated"}, "isDeleted": {"false"}},
		},
	} {
		t.Run(name, func(t *testing.T) { l.requirePages(t, reader) })
	}
}
