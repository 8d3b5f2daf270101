package conformance

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestEventsOfAnObjectKeepTheirOrder makes the first event about a post fail on its way to the log, and its first delivery to the
// webhook as well: the later events about the post wait for it, those about another post do not.
func TestEventsOfAnObjectKeepTheirOrder(t *testing.T) {
	t.Parallel()
	var post, refused atomic.Value
	n := hookNetwork(t)
	r := newHookReceiver(t, func(c hookCall) (int, any) {
		if has("posts", "postId", post.Load())(c) && refused.CompareAndSwap(nil, true) {
			return http.StatusServiceUnavailable, object{}
		}
		return http.StatusOK, object{}
	})
	author := n.SignIn(t, region.EU, apptest.UserID("author"))
	community := author.NewCommunity(t)
	held, other := author.NewPost(t, community), author.NewPost(t, community)
	created := n.Admin(region.EU).Do(t, http.MethodPost, webhooksPath,
		object{"url": r.URL, "events": []string{"post.updated", "post.addReaction", "post.deleted"}}).OK(t)
	require.NotEmpty(t, created.String(t, "webhook.webhookId"))
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/network-settings/webhook", object{"webhookEnabled": true}).OK(t)
	post.Store(held)

	conn := connectTo(t, n)
	_, err := conn.Exec(t.Context(), `CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF (NEW).name = 'post.updated' AND (NEW).topic = '`+held+`' THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$`)
	require.NoError(t, err)
	_,
		err = conn.Exec(t.Context(), `CREATE TRIGGER refuse_event BEFORE INSERT ON realtime_events FOR EACH ROW EXECUTE FUNCTION refuse_event()`)
	require.NoError(t, err)

	edit := object{"data": object{"text": "edited"}}
	author.Do(t, http.MethodPut, "/api/v4/posts/"+held, edit).OK(t)
	author.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": held, "reactionName": "like"}).OK(t)
	author.Do(t, http.MethodPut, "/api/v4/posts/"+other, edit).OK(t)
	r.await(t, "post.updated", has("posts", "postId", other))
	author.Do(t, http.MethodDelete, "/api/v4/posts/"+held, nil).OK(t)
	author.Do(t, http.MethodDelete, "/api/v4/posts/"+other, nil).OK(t)
	r.await(t, "post.deleted", has("posts", "postId", other))
	require.Empty(t, r.about(held), "no event overtakes the first")

	_, err = conn.Exec(t.Context(), `DROP TRIGGER refuse_event ON realtime_events`)
	require.NoError(t, err)
	r.await(t, "post.deleted", has("posts", "postId", held))
	require.Equal(t, []any{"post.updated", "post.updated", "post.addReaction", "post.deleted"}, r.about(held))
}

// about returns the names of the events about a post, in the order of their attempts.
func (r *hookReceiver) about(postID string) []any {
	var names []any
	for _, c := range r.all() {
		if has("posts", "postId", postID)(c) {
			names = append(names, c.body["event"])
		}
	}
	return names
}
