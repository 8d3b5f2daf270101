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
	"github.com/plaza-social/plaza/platform/view"
)

const (
	me    = "me"
	other = "other"
)

// The communities of the tests.
var (
	public       = communities.Community{ID: "public", IsPublic: true, IsDiscoverable: true}
	private      = communities.Community{ID: "private", IsDiscoverable: true}
	hidden       = communities.Community{ID: "hidden"}
	deleted      = communities.Community{ID: "deleted", IsPublic: true, IsDiscoverable: true, DeletedAt: &noon}
	noon         = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	member       = communities.Member{UserID: me, State: communities.StateMember, Roles: []string{auth.RoleCommunityMember}}
	moderator    = communities.Member{UserID: me, State: communities.StateMember, Roles: []string{auth.RoleCommunityModerator}}
	banned       = communities.Member{UserID: me, State: "banned"}
	formerMember = communities.Member{UserID: me, State: "none"}
)

func in(c communities.Community, m *communities.Member) visibility.Target {
	return visibility.Target{Community: &c, Member: m}
}

// codeOf returns the code of an error, or 0 for nil.
func codeOf(err error) fail.Code {
	if err == nil {
		return 0
	}
	return fail.From(err).Code
}

func TestTarget(t *testing.T) {
	t.Parallel()
	wall := func(w content.Wall) visibility.Target { return visibility.Target{WallOwnerID: other, Wall: w} }
	for name, test := range map[string]struct {
		target     visibility.Target
		roles      []string // network roles of the caller
		see, react fail.Code
		moderates  bool
	}{
		"zero target": {see: fail.CodeNotFound, react: fail.CodeNotFound},
		"content":     {target: visibility.Target{Content: true}},
		"content, moderator of the network": {
			target: visibility.Target{Content: true}, roles: []string{auth.RoleModerator},
			moderates: true,
		},
		"public community, stranger":           {target: in(public, nil)},
		"public community, former member":      {target: in(public, &formerMember)},
		"public community, member":             {target: in(public, &member)},
		"public community, moderator":          {target: in(public, &moderator), moderates: true},
		"public community, banned":             {target: in(public, &banned), react: fail.CodeBanned},
		"private community, stranger":          {target: in(private, nil), see: fail.CodePermissionDenied, react: fail.CodePermissionDenied},
		"private community, member":            {target: in(private, &member)},
		"private community, moderator":         {target: in(private, &moderator), moderates: true},
		"private community, banned":            {target: in(private, &banned), see: fail.CodeBanned, react: fail.CodeBanned},
		"private community, network moderator": {target: in(private, nil), roles: []string{auth.RoleModerator}, moderates: true},
		"hidden community, stranger":           {target: in(hidden, nil), see: fail.CodeNotFound, react: fail.CodeNotFound},
		"hidden community, banned":             {target: in(hidden, &banned), see: fail.CodeNotFound, react: fail.CodeNotFound},
		"hidden community, member":             {target: in(hidden, &member)},
		"deleted community, member":            {target: in(deleted, &member), see: fail.CodeNotFound, react: fail.CodeNotFound},
		"wall":                                 {target: wall(content.Wall{})},
		"own wall":                             {target: visibility.Target{WallOwnerID: me}},
		"own wall, although private":           {target: visibility.Target{WallOwnerID: me, Wall: content.Wall{Private: true, Blocked: true}}},
		"wall of a user who blocks the caller": {target: wall(content.Wall{Blocked: true}), see: fail.CodeNotFound, react: fail.CodeNotFound},
		"private wall, no follower": {
			target: wall(content.Wall{Private: true}), see: fail.CodePermissionDenied,
			react: fail.CodePermissionDenied,
		},
		"private wall, follower": {target: wall(content.Wall{Private: true, Follows: true})},
		"private wall, follower who is blocked": {
			target: wall(content.Wall{Private: true, Follows: true, Blocked: true}),
			see:    fail.CodeNotFound, react: fail.CodeNotFound,
		},
		"private wall, moderator of the network": {
			target: wall(content.Wall{Private: true}), roles: []string{auth.RoleModerator},
			moderates: true,
		},
		"blocking wall, moderator of the network": {
			target: wall(content.Wall{Blocked: true}), roles: []string{auth.RoleModerator},
			moderates: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller := servicetest.User(t, me, test.roles...)
			require.Equal(t, test.see, codeOf(test.target.RequireSee(caller)), "see")
			require.Equal(t, test.react, codeOf(test.target.RequireReact(caller)), "react")
			require.Equal(t, test.moderates, test.target.Moderates(caller), "moderates")
		})
	}
}

// TestIsPrivate checks which targets some users may not read, and which of them no longer exist.
func TestIsPrivate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target           visibility.Target
		private, deleted bool
	}{
		"public community":  {target: in(public, nil)},
		"private community": {target: in(private, nil), private: true},
		"deleted community": {target: in(deleted, nil), deleted: true},
		"wall":              {target: visibility.Target{WallOwnerID: other}},
		"private wall":      {target: visibility.Target{WallOwnerID: other, Wall: content.Wall{Private: true}}, private: true},
		"content":           {target: visibility.Target{Content: true}},
	} {
		require.Equal(t, test.private, test.target.IsPrivate(), name)
		require.Equal(t, test.deleted, test.target.IsDeleted(), name)
		require.False(t, test.target.BeforeDeletion().IsDeleted(), name)
	}
	require.NotNil(t, deleted.DeletedAt, "the row stays as it is")
}

// TestRequireRight checks that a community has its own permissions for what is written in it, and that an author has both.
func TestRequireRight(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target visibility.Target
		author string
		roles  []string // network roles of the caller
		want   fail.Code
	}{
		"community, author":            {in(public, &member), me, nil, 0},
		"community, other member":      {in(public, &member), other, nil, fail.CodeForbidden},
		"community, moderator":         {in(public, &moderator), other, nil, 0},
		"community, banned author":     {in(public, &banned), me, nil, fail.CodeBanned},
		"wall, author":                 {visibility.Target{WallOwnerID: other}, me, nil, 0},
		"wall, owner":                  {visibility.Target{WallOwnerID: me}, other, nil, 0},
		"wall, other user":             {visibility.Target{WallOwnerID: other}, other, nil, fail.CodeForbidden},
		"wall, moderator of a network": {visibility.Target{WallOwnerID: other}, other, []string{auth.RoleModerator}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.target.RequireRight(servicetest.User(t, me, test.roles...), auth.DeleteCommunityPost, auth.DeleteUserFeedPost, test.author)
			require.Equal(t, test.want, codeOf(err))
		})
	}
	wallOnly := visibility.Target{WallOwnerID: me, Community: &public, Member: &member}
	require.Error(t, wallOnly.RequireRight(servicetest.User(t, me), auth.DeleteCommunityPost, auth.DeleteUserFeedPost, other),
		"the right on a wall is none in a community")
}

// TestRequireOverOneself checks that authors, owners of walls and administrators need no authority, and that it is not read.
func TestRequireOverOneself(t *testing.T) {
	t.Parallel()
	caller := servicetest.User(t, me)
	require.NoError(t, in(public, &member).RequireOverAuthor(t.Context(), nil, caller, me), "the author")
	require.NoError(t, visibility.Target{WallOwnerID: me}.RequireOverAuthor(t.Context(), nil, caller, other), "the owner of the wall")
	require.NoError(t, in(public, nil).RequireOverAuthor(t.Context(), nil, servicetest.Admin(), other), "an administrator")
}

// TestReviews checks whose posts and comments wait for approval.
func TestReviews(t *testing.T) {
	t.Parallel()
	postsWait, commentsWait := public, public
	postsWait.PostApproval, commentsWait.CommentApproval = true, true
	for name, test := range map[string]struct {
		target          visibility.Target
		posts, comments bool
	}{
		"no review":                     {target: in(public, &member)},
		"review of posts, member":       {target: in(postsWait, &member), posts: true},
		"review of posts, moderator":    {target: in(postsWait, &moderator)},
		"review of comments, member":    {target: in(commentsWait, &member), comments: true},
		"review of comments, moderator": {target: in(commentsWait, &moderator)},
		"wall":                          {target: visibility.Target{WallOwnerID: other}},
		"content":                       {target: visibility.Target{Content: true}},
	} {
		require.Equal(t, test.posts, test.target.ReviewsPostOf(servicetest.User(t, me)), "posts: %s", name)
		require.Equal(t, test.comments, test.target.ReviewsCommentOf(servicetest.User(t, me)), "comments: %s", name)
	}
}

// TestKnown checks that responses get the rows of the target.
func TestKnown(t *testing.T) {
	t.Parallel()
	users := []people.User{{ID: me}}
	require.Equal(t, view.Rows{Users: users}, visibility.Target{WallOwnerID: other}.Known(users))
	require.Equal(t, view.Rows{Users: users, Communities: []communities.Community{public}}, in(public, nil).Known(users))
	require.Equal(t, view.Rows{Users: users, Communities: []communities.Community{public}, Members: []communities.Member{member}},
		in(public, &member).Known(users))
}

func TestUnconfirmedCallersSeeNothingPrivate(t *testing.T) {
	t.Parallel()
	unconfirmed := &auth.Caller{Kind: auth.User, UserID: me}
	require.Equal(t, fail.CodeUnexpected, codeOf(in(private, &member).RequireSee(unconfirmed)), "a fault of the handler")
	require.False(t, in(private, &moderator).Moderates(unconfirmed))
}

func TestRequireSeePost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target   visibility.Target
		author   string
		feedType string
		want     fail.Code
	}{
		"published":                           {in(public, nil), other, "published", 0},
		"published, but the target is hidden": {in(hidden, nil), other, "published", fail.CodeNotFound},
		"reviewing, other member":             {in(public, &member), other, "reviewing", fail.CodeNotFound},
		"reviewing, author":                   {in(public, &member), me, "reviewing", 0},
		"reviewing, moderator":                {in(public, &moderator), other, "reviewing", 0},
		"declined, other member":              {in(public, &member), other, "declined", fail.CodeNotFound},
		"declined, author":                    {in(public, &member), me, "declined", 0},
		"reviewing, author who was banned":    {in(private, &banned), me, "reviewing", fail.CodeBanned},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			post := content.Post{AuthorID: test.author, FeedType: test.feedType}
			require.Equal(t, test.want, codeOf(test.target.RequireSeePost(servicetest.User(t, me), &post)))
		})
	}
	t.Run("administrator", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, in(hidden, nil).RequireSeePost(servicetest.Admin(), &content.Post{AuthorID: other, FeedType: "reviewing"}))
	})
}

// TestHiddenStories checks who sees stories that flags hid.
func TestHiddenStories(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target visibility.Target
		author string
		want   fail.Code
		roles  []string // network roles of the caller
	}{
		"author":                              {target: in(public, &member), author: me},
		"author who left":                     {target: in(public, nil), author: me},
		"other member":                        {target: in(public, &member), author: other, want: fail.CodeNotFound},
		"moderator":                           {target: in(public, &moderator), author: other},
		"moderator of the network":            {target: in(public, nil), author: other, roles: []string{auth.RoleModerator}},
		"on the own wall":                     {target: visibility.Target{WallOwnerID: me}, author: me},
		"on the wall of another user":         {target: visibility.Target{WallOwnerID: other}, author: other, want: fail.CodeNotFound},
		"of another user on the caller's own": {target: visibility.Target{WallOwnerID: me}, author: other, want: fail.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := visibility.Reference{
				Target: test.target,
				Story:  &content.Story{AuthorID: test.author, HiddenAt: &noon, ExpiresAt: noon.Add(time.Hour)},
			}
			require.Equal(t, test.want, codeOf(ref.RequireSee(servicetest.User(t, me, test.roles...), noon)))
		})
	}
}

func TestRequireSeeComment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target visibility.Target
		author string
		status string
		want   fail.Code
	}{
		"approved":              {in(public, nil), other, content.Approved, 0},
		"pending, other member": {in(public, &member), other, content.Pending, fail.CodeNotFound},
		"pending, author":       {in(public, &member), me, content.Pending, 0},
		"pending, moderator":    {in(public, &moderator), other, content.Pending, 0},
		"declined, author":      {in(public, &member), me, content.Declined, 0},
		"declined, stranger":    {in(public, nil), other, content.Declined, fail.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			comment := content.Comment{AuthorID: test.author, ApprovalStatus: test.status}
			require.Equal(t, test.want, codeOf(test.target.RequireSeeComment(servicetest.User(t, me), &comment)))
		})
	}
}
