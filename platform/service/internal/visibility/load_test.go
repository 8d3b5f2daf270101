package visibility_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
)

// written is what an author wrote on one target.
type written struct {
	post             content.Post
	story            content.Story
	comment, onStory content.Comment
	visible          bool // for the reader
}

// stored is a database with content on each kind of target, which a reader loads.
type stored struct {
	*servicetest.World
	reader, author string
	on             map[string]written
}

// insertContent inserts a post, a story and comments on both.
func insertContent(t *testing.T, w *servicetest.World, kind, id, author string, visible bool) written {
	t.Helper()
	c := written{post: servicetest.NewPost(kind, id, author), story: servicetest.NewStory(kind, id, author), visible: visible}
	c.comment = servicetest.NewComment(content.ReferencePost, c.post.ID, kind, id, author)
	c.onStory = servicetest.NewComment(content.ReferenceStory, c.story.ID, kind, id, author)
	w.Commit(t, func(tx *store.Tx) {
		tx.InsertPost(c.post)
		tx.InsertStory(c.story)
		tx.InsertComment(c.comment)
		tx.InsertComment(c.onStory)
	})
	return c
}

func newStored(t *testing.T) *stored {
	t.Helper()
	w := servicetest.NewWorld(t)
	w.Deps.View = &view.Builder{Now: service.Millis, Catalog: &auth.Catalog{}}
	s := &stored{World: w, reader: region.NewID(region.EU), author: region.NewID(region.EU), on: map[string]written{}}
	blocking := region.NewID(region.EU)
	w.Exec(t,
		fmt.Sprintf(`INSERT INTO blocks (home, blocker_id, blocked_id, blocker_public_id, blocked_public_id, status, version, created_at, updated_at)
		VALUES ('eu', '%s', '%s', 'a', 'b', 'blocked', 1, now(), now())`, blocking, s.reader))
	for name, target := range map[string]struct {
		kind, id string
		visible  bool
	}{
		"a public community":                  {"community", w.AddCommunity(t, true), true},
		"a private community":                 {"community", w.AddCommunity(t, false), false},
		"a private community of the reader's": {"community", w.AddCommunity(t, false, s.reader), true},
		"a wall":                              {"user", s.author, true},
		"a wall of a user who blocks":         {"user", blocking, false},
	} {
		s.on[name] = insertContent(t, w, target.kind, target.id, s.author, target.visible)
	}
	return s
}

// delete marks a row as deleted.
func (s *stored) delete(t *testing.T, table, id string) {
	t.Helper()
	s.Exec(t, fmt.Sprintf(`UPDATE %s SET deleted_at = now() WHERE id = '%s'`, table, id))
}

// TestLoad loads posts, stories, comments and events on each kind of target.
func TestLoad(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	caller, ctx := servicetest.User(t, s.reader), t.Context()
	for name, c := range s.on {
		post, err := visibility.LoadPost(ctx, s.Deps, caller, c.post.ID)
		requireLoaded(t, "post on "+name, c, post, err)
		story, err := visibility.LoadStory(ctx, s.Deps, caller, c.story.ID)
		requireLoaded(t, "story on "+name, c, story, err)
		for _, comment := range []content.Comment{c.comment, c.onStory} {
			ref, err := visibility.LoadComment(ctx, s.Deps, caller, comment.ID)
			require.Equal(t, c.visible, err == nil, "comment on a %s on %s", comment.ReferenceType, name)
			if err == nil {
				require.Equal(t, comment.ReferenceID, ref.ID(), name)
			}
		}
		_, target, err := visibility.LoadPostIn(ctx, s.Deps, caller, c.post.ID)
		require.NoError(t, err, name)
		require.Equal(t, c.visible, target.RequireSee(caller) == nil, "target of a post: %s", name)

		event := &content.PlannedEvent{OriginType: c.post.TargetType, OriginID: c.post.TargetID}
		_, err = visibility.RequireSeeEvent(ctx, s.Deps, caller, event)
		require.Equal(t, c.visible, err == nil, "event in %s", name)
	}
}

func requireLoaded(t *testing.T, what string, c written, ref *visibility.Reference, err error) {
	t.Helper()
	require.Equal(t, c.visible, err == nil, what)
	require.Equal(t, c.visible, ref != nil, what)
	if err == nil {
		kind, id, _ := ref.TargetIDs()
		require.Equal(t, []string{c.post.TargetType, c.post.TargetID}, []string{kind, id}, what)
	}
}

// TestLoadRefusals checks the errors of what the reader may not see: posts do not exist for them.
func TestLoadRefusals(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	caller, ctx := servicetest.User(t, s.reader), t.Context()
	private, open, wall := s.on["a private community"], s.on["a public community"], s.on["a wall"]
	s.delete(t, "posts", wall.post.ID)
	s.delete(t, "stories", wall.story.ID)
	s.delete(t, "comments", open.comment.ID)
	unknown := region.NewID(region.EU)
	loadPost := func(id string) error { _, err := visibility.LoadPost(ctx, s.Deps, caller, id); return err }
	loadStory := func(id string) error { _, err := visibility.LoadStory(ctx, s.Deps, caller, id); return err }
	loadComment := func(id string) error { _, err := visibility.LoadComment(ctx, s.Deps, caller, id); return err }
	for name, test := range map[string]struct {
		load func(string) error
		id   string
		want fail.Code
	}{
		"unknown post":                 {loadPost, unknown, fail.CodeNotFound},
		"deleted post":                 {loadPost, wall.post.ID, fail.CodeNotFound},
		"post of a private community":  {loadPost, private.post.ID, fail.CodeNotFound},
		"unknown story":                {loadStory, unknown, fail.CodeNotFound},
		"deleted story":                {loadStory, wall.story.ID, fail.CodeNotFound},
		"story of a private community": {loadStory, private.story.ID, fail.CodePermissionDenied},
		"unknown comment":              {loadComment, unknown, fail.CodeNotFound},
		"deleted comment":              {loadComment, open.comment.ID, fail.CodeNotFound},
		"comment on a deleted post":    {loadComment, wall.comment.ID, fail.CodeNotFound},
		"comment on a deleted story":   {loadComment, wall.onStory.ID, fail.CodeNotFound},
	} {
		require.Equal(t, test.want, codeOf(test.load(test.id)), name)
	}
	for name, id := range map[string]string{"unknown": unknown, "deleted": wall.post.ID} {
		post, _, err := visibility.LoadPostIn(ctx, s.Deps, caller, id)
		require.NoError(t, err, name)
		require.Nil(t, post, name)
	}
	ref, err := visibility.LoadStory(ctx, s.Deps, servicetest.Admin(), wall.story.ID)
	require.NoError(t, err, "administrators see deleted stories")
	require.NotNil(t, ref.Story.DeletedAt, "as they are")
}

// TestLoadWithoutDatabase checks that a read that fails is an error, and that what it did not read is not taken as absent.
func TestLoadWithoutDatabase(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	caller := servicetest.User(t, s.reader)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	id := s.on["a wall"].post.ID
	for name, load := range map[string]func() error{
		"post":    func() error { _, err := visibility.LoadPost(ctx, s.Deps, caller, id); return err },
		"story":   func() error { _, err := visibility.LoadStory(ctx, s.Deps, caller, id); return err },
		"comment": func() error { _, err := visibility.LoadComment(ctx, s.Deps, caller, id); return err },
		"target":  func() error { _, _, err := visibility.LoadPostIn(ctx, s.Deps, caller, id); return err },
		"targets": func() error {
			_, err := visibility.LoadTargets(ctx, s.Deps, caller, map[string]string{s.author: "user"})
			return err
		},
		"event": func() error {
			_, err := visibility.RequireSeeEvent(ctx, s.Deps, caller, &content.PlannedEvent{OriginType: "user", OriginID: s.author})
			return err
		},
		"posts": func() error {
			_, err := visibility.FilterPosts(ctx, &service.Request{Deps: s.Deps, Caller: caller}, []content.Post{s.on["a wall"].post})
			return err
		},
		"authority": func() error {
			return in(public, nil).RequireOverAuthor(ctx, s.Deps, caller, s.author)
		},
	} {
		err := load()
		require.Error(t, err, name)
		require.NotEqual(t, fail.CodeNotFound, codeOf(err), name)
	}
}

// TestFilterPosts filters posts on each kind of target, and on content.
func TestFilterPosts(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	r := &service.Request{Deps: s.Deps, Caller: servicetest.User(t, s.reader)}
	onContent := servicetest.NewPost(visibility.OnContent, visibility.ContentTarget(region.EU), s.author)
	s.Commit(t, func(tx *store.Tx) { tx.InsertPost(onContent) })
	s.delete(t, "posts", s.on["a wall"].post.ID)
	posts, ids := []content.Post{onContent}, []string{onContent.ID, s.on["a wall"].post.ID, region.NewID(region.EU)}
	want := map[string]bool{onContent.ID: true}
	for name, c := range s.on {
		if name == "a wall" {
			continue
		}
		posts, ids = append(posts, c.post), append(ids, c.post.ID)
		if c.visible {
			want[c.post.ID] = true
		}
	}
	rows, err := visibility.FilterPosts(t.Context(), r, posts)
	require.NoError(t, err)
	require.Len(t, rows.Posts, len(want))
	for _, p := range rows.Posts {
		require.Contains(t, want, p.ID)
	}
	require.Len(t, rows.Communities, 2, "those of the posts that the reader may see")
	require.Len(t, rows.Members, 1)

	visible, err := visibility.VisiblePostIDs(t.Context(), r, ids)
	require.NoError(t, err)
	require.Equal(t, want, visible)
	visible, err = visibility.VisiblePostIDs(t.Context(), r, ids[2:3])
	require.NoError(t, err)
	require.Empty(t, visible)
}

// TestRequireOverAuthor checks the authority that a moderator needs over what others wrote on a target.
func TestRequireOverAuthor(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	ids := map[string]string{}
	for name, roles := range map[string][]string{
		"user": nil, "network moderator": {auth.RoleModerator}, "creator": nil,
		"community moderator": nil,
	} {
		ids[name], _ = s.AddUser(t, roles...)
	}
	c := communities.Community{ID: s.AddCommunity(t, true), CreatorID: ids["creator"]}
	s.Commit(t, func(tx *store.Tx) {
		m := communities.Member{
			CommunityID: c.ID, UserID: ids["community moderator"], State: communities.StateMember,
			Roles: []string{auth.RoleCommunityModerator}, JoinedAt: servicetest.Noon,
		}
		tx.ChangeMembers(c.ID, []communities.MemberChange{{New: m}}, servicetest.Noon, servicetest.Noon)
	})
	caller := servicetest.User(t, s.reader)
	for name, test := range map[string]struct {
		target  visibility.Target
		allowed []string
	}{
		"member of the community":    {in(c, &member), []string{"user"}},
		"moderator of the community": {in(c, &moderator), []string{"user", "community moderator"}},
		"user, on a wall":            {visibility.Target{WallOwnerID: s.author}, []string{"user", "creator", "community moderator"}},
	} {
		for author, id := range ids {
			err := test.target.RequireOverAuthor(t.Context(), s.Deps, caller, id)
			require.Equal(t, slices.Contains(test.allowed, author), err == nil, "%s, over a %s", name, author)
		}
	}
	c.CreatorID = s.reader
	require.NoError(t, in(c, nil).RequireOverAuthor(t.Context(), s.Deps, caller, ids["community moderator"]), "the creator")
	require.Error(t, in(c, nil).RequireOverAuthor(t.Context(), s.Deps, caller, ids["network moderator"]), "the creator")
}

// TestGuard checks that a transaction fails if what it refers to was deleted or has ended since it was read.
func TestGuard(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	kept, gone := s.on["a wall"], s.on["a public community"]
	s.delete(t, "posts", gone.post.ID)
	s.delete(t, "stories", gone.story.ID)
	for name, test := range map[string]struct {
		ref  visibility.Reference
		now  time.Time
		want fail.Code
	}{
		"post":                 {visibility.Reference{Post: &kept.post}, servicetest.Noon, 0},
		"deleted post":         {visibility.Reference{Post: &gone.post}, servicetest.Noon, fail.CodeNotFound},
		"story":                {visibility.Reference{Story: &kept.story}, servicetest.Noon, 0},
		"deleted story":        {visibility.Reference{Story: &gone.story}, servicetest.Noon, fail.CodeNotFound},
		"story that has ended": {visibility.Reference{Story: &kept.story}, kept.story.ExpiresAt, fail.CodeNotFound},
	} {
		tx := s.Store.NewTx(region.EU)
		test.ref.Guard(tx, test.now)
		require.Equal(t, test.want, codeOf(tx.Commit(t.Context())), name)
	}
}

// TestRequestsOfUsers runs requests of a member about what is in a private community: they read its rows and the membership.
func TestRequestsOfUsers(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	reader, ctx := s.AddUser(t)
	community := s.AddCommunity(t, false, reader)
	own, others := insertContent(t, s.World, "community", community, reader, true),
		insertContent(t, s.World, "community", community, s.author, true)
	run := func(r *visibility.Request) error { return r.Run(ctx) }
	for name, err := range map[string]error{
		"post":             run(visibility.NewPostRequest(ctx, s.Deps, own.post.ID)),
		"story":            run(visibility.NewStoryRequest(ctx, s.Deps, own.story.ID)),
		"past story":       run(visibility.NewPastStoryRequest(ctx, s.Deps, own.story.ID)),
		"post alone":       run(visibility.NewRequestAlone(s.Deps.NewRequest(ctx), content.ReferencePost, own.post.ID)),
		"right to the own": runWithRight(ctx, s, own.post.ID),
	} {
		require.NoError(t, err, name)
	}
	require.Equal(t, fail.CodeForbidden, codeOf(runWithRight(ctx, s, others.post.ID)), "a right for the post of another user")
	r := s.Deps.NewRequest(ctx)
	comment := visibility.ReadReferenceOfComment(r, own.comment.ID)
	require.NoError(t, r.Run(ctx))
	ref, err := comment.Resolve(r.Caller, s.Deps.Now())
	require.NoError(t, err)
	require.Equal(t, own.post.ID, ref.ID())
	l := visibility.NewPostRequest(ctx, s.Deps, own.post.ID)
	require.NoError(t, l.Run(ctx))
	require.NoError(t, l.RequireReact())
	require.Equal(t, fail.CodeForbidden, codeOf(l.RequireModerator()))
	known := l.Known()
	require.Equal(t, []int{1, 1, 1}, []int{len(known.Users), len(known.Communities), len(known.Members)})
}

func runWithRight(ctx context.Context, s *stored, postID string) error {
	r := visibility.NewPostRequest(ctx, s.Deps, postID)
	r.CheckRight(auth.DeleteCommunityPost, auth.DeleteUserFeedPost)
	return r.Run(ctx)
}

// TestRightOverSuperiors checks that a right by a role does not reach what users of higher authority wrote.
func TestRightOverSuperiors(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	_, ctx := s.AddUser(t, auth.RoleModerator)
	superior, _ := s.AddUser(t, auth.RoleGlobalAdmin)
	open := s.on["a public community"].post
	require.NoError(t, runWithRight(ctx, s, open.ID))
	post := servicetest.NewPost("community", open.TargetID, superior)
	s.Commit(t, func(tx *store.Tx) { tx.InsertPost(post) })
	require.Equal(t, fail.CodeForbidden, codeOf(runWithRight(ctx, s, post.ID)))
}

// TestRequests runs requests about posts and stories of each kind.
func TestRequests(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	wall := s.on["a wall"]
	onContent := servicetest.NewPost(visibility.OnContent, visibility.ContentTarget(region.EU), s.author)
	s.Commit(t, func(tx *store.Tx) { tx.InsertPost(onContent) })
	ctx := auth.WithCaller(t.Context(), servicetest.Admin())
	for name, test := range map[string]struct {
		kind, id string
		want     fail.Code
	}{
		"post":                      {content.ReferencePost, wall.post.ID, 0},
		"story":                     {content.ReferenceStory, wall.story.ID, 0},
		"post on content":           {content.ReferenceContent, onContent.ID, 0},
		"post that is on content":   {content.ReferencePost, onContent.ID, 0},
		"content that is on a wall": {content.ReferenceContent, wall.post.ID, fail.CodeNotFound},
		"post that is a story":      {content.ReferencePost, wall.story.ID, fail.CodeNotFound},
		"unknown kind":              {"message", wall.post.ID, fail.CodeNotFound},
	} {
		for _, newRequest := range []func(*service.Request, string, string) *visibility.Request{
			visibility.NewRequest,
			visibility.NewRequestAlone,
		} {
			r := newRequest(s.Deps.NewRequest(ctx), test.kind, test.id)
			require.Equal(t, test.want, codeOf(r.Run(ctx)), name)
			if test.want == 0 {
				require.Equal(t, test.id, r.ID(), name)
				require.Equal(t, s.author, r.AuthorID(), name)
			}
		}
	}
}
