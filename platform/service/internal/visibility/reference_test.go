package visibility_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
)

func TestResolvePost(t *testing.T) {
	t.Parallel()
	targets := visibility.NewTargets([]communities.Community{public, private},
		[]communities.Member{{CommunityID: private.ID, State: communities.StateMember}})
	post := func(change func(*content.Post)) *content.Post {
		p := &content.Post{ID: "p", TargetType: "community", TargetID: public.ID, AuthorID: other, FeedType: "published"}
		change(p)
		return p
	}
	for name, test := range map[string]struct {
		post *content.Post
		want fail.Code
	}{
		"public":            {post(func(*content.Post) {}), 0},
		"private, member":   {post(func(p *content.Post) { p.TargetID = private.ID }), 0},
		"target not read":   {post(func(p *content.Post) { p.TargetID = "unknown" }), fail.CodeNotFound},
		"deleted":           {post(func(p *content.Post) { p.DeletedAt = &noon }), fail.CodeNotFound},
		"waits":             {post(func(p *content.Post) { p.FeedType = "reviewing" }), fail.CodeNotFound},
		"own, waits":        {post(func(p *content.Post) { p.FeedType, p.AuthorID = "reviewing", me }), 0},
		"on a wall":         {post(func(p *content.Post) { p.TargetType, p.TargetID = "user", other }), 0},
		"on an external id": {post(func(p *content.Post) { p.TargetType, p.TargetID = visibility.OnContent, "article" }), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref, err := targets.Post(test.post).Resolve(servicetest.User(t, me), noon)
			require.Equal(t, test.want, codeOf(err))
			require.Equal(t, err == nil, ref != nil, "the row is handed out only after the check")
			if ref != nil {
				require.Equal(t, "p", ref.ID())
				require.Equal(t, test.post.AuthorID, ref.AuthorID())
			}
		})
	}
}

func TestResolveStory(t *testing.T) {
	t.Parallel()
	targets := visibility.NewTargets([]communities.Community{public, private}, nil)
	story := func(change func(*content.Story)) *content.Story {
		s := &content.Story{
			ID: "s", TargetType: "community", TargetID: public.ID, AuthorID: other, CreatedAt: noon.Add(-time.Hour),
			ExpiresAt: noon.Add(time.Hour),
		}
		change(s)
		return s
	}
	ended := func(s *content.Story) { s.ExpiresAt = noon }
	removed := func(s *content.Story) { s.DeletedAt = &noon }
	for name, test := range map[string]struct {
		story      *content.Story
		roles      []string
		want, past fail.Code // by Resolve and by ResolvePast
	}{
		"live":               {story: story(func(*content.Story) {})},
		"ended":              {story: story(ended), want: fail.CodeNotFound, past: fail.CodeNotFound},
		"deleted":            {story: story(removed), want: fail.CodeNotFound, past: fail.CodeNotFound},
		"ended, archivist":   {story: story(ended), roles: []string{auth.RoleGlobalAdmin}, want: fail.CodeNotFound},
		"deleted, archivist": {story: story(removed), roles: []string{auth.RoleGlobalAdmin}, want: fail.CodeNotFound},
		"private": {
			story: story(func(s *content.Story) { s.TargetID = private.ID }), want: fail.CodePermissionDenied, past: fail.CodePermissionDenied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller := servicetest.User(t, me, test.roles...)
			_, err := targets.Story(test.story).Resolve(caller, noon)
			require.Equal(t, test.want, codeOf(err), "Resolve")
			_, err = targets.Story(test.story).ResolvePast(caller, noon)
			require.Equal(t, test.past, codeOf(err), "ResolvePast")
		})
	}
}

// TestRequireSeeCommentOnReference checks that a comment is seen only where what it is on is.
func TestRequireSeeCommentOnReference(t *testing.T) {
	t.Parallel()
	post := visibility.Reference{Post: &content.Post{FeedType: "published"}, Target: in(private, &member)}
	story := visibility.Reference{Story: &content.Story{ExpiresAt: noon.Add(time.Hour)}, Target: in(private, &member)}
	deletedPost, waiting, ended, foreign := post, post, story, post
	deletedPost.Post = &content.Post{FeedType: "published", DeletedAt: &noon}
	waiting.Post = &content.Post{FeedType: "reviewing", AuthorID: other}
	ended.Story = &content.Story{ExpiresAt: noon}
	foreign.Target = in(private, nil)
	approved, pending := content.Comment{ApprovalStatus: content.Approved}, content.Comment{ApprovalStatus: content.Pending, AuthorID: other}
	removed := content.Comment{ApprovalStatus: content.Approved, DeletedAt: &noon}
	for name, test := range map[string]struct {
		ref     visibility.Reference
		comment *content.Comment
		want    fail.Code
	}{
		"on a post":                         {post, &approved, 0},
		"on a story":                        {story, &approved, 0},
		"none":                              {post, nil, fail.CodeNotFound},
		"deleted":                           {post, &removed, fail.CodeNotFound},
		"pending, of another user":          {post, &pending, fail.CodeNotFound},
		"on nothing":                        {visibility.Reference{Target: in(public, &member)}, &approved, fail.CodeNotFound},
		"on a deleted post":                 {deletedPost, &approved, fail.CodeNotFound},
		"on a post that waits for approval": {waiting, &approved, fail.CodeNotFound},
		"on a story that has ended":         {ended, &approved, fail.CodeNotFound},
		"where the caller is not a member":  {foreign, &approved, fail.CodePermissionDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, codeOf(test.ref.RequireSeeComment(servicetest.User(t, me), test.comment, noon)))
		})
	}
}

// TestVisibleEvents checks which events the caller may see by their origin.
func TestVisibleEvents(t *testing.T) {
	t.Parallel()
	targets := visibility.NewTargets([]communities.Community{public, private, deleted}, nil)
	events := []content.PlannedEvent{
		{ID: "1", OriginID: public.ID},
		{ID: "2", OriginID: public.ID, DeletedAt: &noon},
		{ID: "3", OriginID: private.ID},
		{ID: "4", OriginID: deleted.ID},
		{ID: "5", OriginID: "unknown"},
		{ID: "6", OriginID: public.ID},
	}
	var ids []string
	for _, e := range targets.VisibleEvents(servicetest.User(t, me), events) {
		ids = append(ids, e.ID)
	}
	require.Equal(t, []string{"1", "6"}, ids)
	for name, e := range map[string]*content.PlannedEvent{"none": nil, "deleted": {OriginID: public.ID, DeletedAt: &noon}} {
		_, err := visibility.RequireSeeEvent(t.Context(), nil, servicetest.User(t, me), e)
		require.Equal(t, fail.CodeNotFound, codeOf(err), name)
	}
}

func TestRequireComment(t *testing.T) {
	t.Parallel()
	closed, open := public, public
	open.StoryComments = true
	for name, test := range map[string]struct {
		ref  visibility.Reference
		want fail.Code
	}{
		"post":                              {visibility.Reference{Post: &content.Post{}, Target: in(closed, &member)}, 0},
		"post, banned":                      {visibility.Reference{Post: &content.Post{}, Target: in(closed, &banned)}, fail.CodeBanned},
		"story where comments are allowed":  {visibility.Reference{Story: &content.Story{}, Target: in(open, &member)}, 0},
		"story where comments are disabled": {visibility.Reference{Story: &content.Story{}, Target: in(closed, &member)}, fail.CodeForbidden},
		"story on a wall":                   {visibility.Reference{Story: &content.Story{}, Target: visibility.Target{WallOwnerID: other}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, codeOf(test.ref.RequireComment(servicetest.User(t, me))))
		})
	}
}

func TestVisiblePosts(t *testing.T) {
	t.Parallel()
	targets := visibility.NewTargets([]communities.Community{public, private}, nil)
	targets.AddFollowedWalls([]people.User{{ID: other}, {ID: "gone", DeletedAt: &noon}})
	posts := []content.Post{
		{ID: "1", TargetType: "community", TargetID: public.ID, FeedType: "published"},
		{ID: "2", TargetType: "community", TargetID: private.ID, FeedType: "published"},
		{ID: "3", TargetType: "user", TargetID: other, FeedType: "published"},
		{ID: "4", TargetType: "user", TargetID: "gone", FeedType: "published"},
		{ID: "5", TargetType: visibility.OnContent, TargetID: "article", FeedType: "published"},
		{ID: "6", TargetType: "community", TargetID: public.ID, FeedType: "reviewing"},
		{ID: "7", TargetType: "community", TargetID: public.ID, FeedType: "published", DeletedAt: &noon},
	}
	var ids []string
	for _, p := range targets.VisiblePosts(servicetest.User(t, me), posts) {
		ids = append(ids, p.ID)
	}
	require.Equal(t, []string{"1", "3", "5"}, ids)
	found, members := targets.Referenced(posts[:1])
	require.Equal(t, []communities.Community{public}, found)
	require.Empty(t, members)
}
