package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestStory plays the main scenario across regions: users of each region sign in; a community at eu gets a post
// and comments; users of us and sg flag them; a moderator clears the flags and rejects a join request.
func TestStory(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	s := story{
		t: t, maria: n.SignIn(t, region.EU, "maria"), sam: n.SignIn(t, region.US, "sam"), li: n.SignIn(t, region.SG, "li"),
		troll: n.SignIn(t, region.SG, "troll"),
	}
	s.createCommunity()
	s.createContent()
	s.flagFromOtherRegions()
	s.clearFlags()
	s.rejectJoinRequest()
}

type story struct {
	t                    *testing.T
	maria, sam, li       *apptest.Client // maria moderates
	troll                *apptest.Client
	community            string
	post, comment, reply string
}

// createCommunity creates a community at eu that requires approval to join, and approves sam and li.
func (s *story) createCommunity() {
	s.community = newCommunity(s.t, s.maria, object{"displayName": "Gardeners", "requiresJoinApproval": true})
	for _, c := range []*apptest.Client{s.sam, s.li} {
		require.Equal(s.t, "pending", ask(s.t, c, s.community)["status"])
		decide(s.t, s.maria.At(region.SG), s.community, "approve", c.InternalID)
		require.Equal(s.t, "member", membership(s.t, c, s.community)["communityMembership"])
	}
	require.Equal(s.t, 3, count(s.t, s.li, s.community, "membersCount"))
}

// createContent posts from us and comments from sg; all rows are stored at eu, with the community.
func (s *story) createContent() {
	s.post = newPost(s.t, s.sam, s.community, object{"data": object{"text": "buy my seeds"}})
	s.comment = newComment(s.t, s.li, s.post)
	s.reply = newComment(s.t, s.sam, s.post, object{"parentId": s.comment, "data": object{"text": "buy now"}})
	for _, id := range []string{s.community, s.post, s.comment, s.reply} {
		home, err := region.HomeOf(id)
		require.NoError(s.t, err)
		require.Equal(s.t, region.EU, home)
	}
	r := s.maria.Do(s.t, http.MethodGet, "/api/v3/community-feeds/"+s.community, nil)
	a := requireAggregate(s.t, r, "data.", communityFeedAggregate)
	require.Equal(s.t, s.post, a.one("posts")["postId"])
	require.InDelta(s.t, 2, a.one("posts")["commentsCount"], 0)
}

// flagFromOtherRegions flags the post and the reply from us and sg.
func (s *story) flagFromOtherRegions() {
	post, reply := flaggable{"posts", s.post, postAggregate}, flaggable{"comments", s.reply, commentAggregate}
	for i, c := range []*apptest.Client{s.li, s.li.At(region.US), s.troll, s.maria} {
		want := []int{1, 1, 2, 3}[i] // li's second flag does not count
		body := object{"reason": "Spam or scams", "detail": "they sell seeds"}
		post.do(s.t, c, http.MethodPost, "/flag", body)
		reply.do(s.t, c, http.MethodPost, "/flag", body)
		requireFlags(s.t, post.get(s.t, s.maria), want)
		requireFlags(s.t, reply.get(s.t, s.maria), want)
	}
	requireBubbles(s.t, s.maria, s.community, s.post, bubbles{comment: true, communityPost: true, communityComment: true})
	flagged := s.maria.Do(s.t, http.MethodGet, "/api/v3/community-feeds/"+s.community+"?hasFlag=true", nil).OK(s.t)
	require.Equal(s.t, []string{s.post}, flagged.Strings(s.t, "data.posts", "postId"))
	for _, c := range []*apptest.Client{s.sam, s.troll} {
		requireFailure(s.t, notAllowed, c.Do(s.t, http.MethodDelete, "/api/v3/posts/"+s.post+"/flags", nil))
		requireFailure(s.t, notAllowed, c.Do(s.t, http.MethodDelete, "/api/v3/comments/"+s.reply+"/flags", nil))
	}
}

// clearFlags clears all flags in other regions than those that set them.
func (s *story) clearFlags() {
	post, reply := flaggable{"posts", s.post, postAggregate}, flaggable{"comments", s.reply, commentAggregate}
	requireFlags(s.t, post.do(s.t, s.maria.At(region.US), http.MethodDelete, "/flags", nil), 0)
	requireBubbles(s.t, s.maria, s.community, s.post, bubbles{comment: true, communityComment: true})
	requireFlags(s.t, reply.do(s.t, s.maria.At(region.SG), http.MethodDelete, "/flags", nil), 0)
	requireBubbles(s.t, s.maria, s.community, s.post, bubbles{})
	for _, c := range []*apptest.Client{s.li, s.troll, s.maria} {
		require.False(s.t, post.byMe(s.t, c))
		require.False(s.t, reply.byMe(s.t, c))
	}
}

// rejectJoinRequest rejects a join request; users who are not moderators may not reject it.
func (s *story) rejectJoinRequest() {
	path := joinPath(s.community) + "/reject"
	ask(s.t, s.troll, s.community)
	body := object{"userId": s.troll.InternalID}
	for _, c := range []*apptest.Client{s.troll, s.sam} {
		requireFailure(s.t, notAllowed, c.Do(s.t, http.MethodPost, path, body))
	}
	decide(s.t, s.maria.At(region.US), s.community, "reject", s.troll.InternalID)
	request := myRequest(s.t, s.troll, s.community)
	require.Equal(s.t, "rejected", request["status"])
	require.Equal(s.t, "maria", request["responderId"])
	requireFailure(s.t, notFound, s.maria.Do(s.t, http.MethodPost, path, body))
	requireFailure(s.t, notMember, s.troll.Do(s.t, http.MethodPost, postsPath,
		object{"targetType": "community", "targetId": s.community, "data": object{"text": "x"}}))
	require.Equal(s.t, 3, count(s.t, s.maria, s.community, "membersCount"))
}
