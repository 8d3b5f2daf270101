package pin

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func at(minutes int) time.Time { return servicetest.Noon.Add(time.Duration(minutes) * time.Minute) }

func idsOf(pins []content.Pin) []string {
	return service.Map(pins, func(p content.Pin) string { return p.PostID })
}

func TestRequirePinnable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		post content.Post
		err  error
	}{
		"published":       {content.Post{IsParent: true, FeedType: "published"}, nil},
		"child":           {content.Post{ParentID: "p", FeedType: "published"}, errChild},
		"waiting":         {content.Post{IsParent: true, FeedType: "reviewing"}, errUnapproved},
		"declined":        {content.Post{IsParent: true, FeedType: "declined"}, errUnapproved},
		"a waiting child": {content.Post{FeedType: "reviewing"}, errChild},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := requirePinnable(&test.post)
			if test.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, test.err)
		})
	}
}

func TestRequireGlobal(t *testing.T) {
	t.Parallel()
	public, private := &communities.Community{IsPublic: true}, &communities.Community{}
	published := &content.Post{IsParent: true, FeedType: "published"}
	user, moderator := servicetest.User(t, "u"), servicetest.User(t, "m", auth.RoleModerator)
	manager, admin := servicetest.User(t, "s", auth.RoleSuperModerator), servicetest.Admin()
	for name, test := range map[string]struct {
		caller    *auth.Caller
		community *communities.Community
		post      *content.Post
		want      fail.Code
	}{
		"a user":                          {user, public, published, fail.CodeForbidden},
		"a network moderator":             {moderator, public, published, fail.CodeForbidden},
		"a manager":                       {manager, public, published, 0},
		"an administrator":                {admin, public, published, 0},
		"a private community":             {admin, private, published, fail.CodeForbidden},
		"a post on a wall":                {admin, nil, published, fail.CodeForbidden},
		"a child post":                    {admin, public, &content.Post{FeedType: "published"}, fail.CodeBadRequest},
		"a user learns nothing of a post": {user, public, &content.Post{FeedType: "published"}, fail.CodeForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &visibility.Request{Request: &service.Request{Caller: test.caller}}
			r.Post, r.Target.Community = test.post, test.community
			require.Equal(t, test.want, servicetest.CodeOf(requireGlobal(r)))
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	pins := []content.Pin{
		{PostID: "b", PinnedAt: at(1), PostCreatedAt: at(9)},
		{PostID: "a", PinnedAt: at(1), PostCreatedAt: at(7)},
		{PostID: "c", PinnedAt: at(0), PostCreatedAt: at(8), Placement: "announcement"},
		{PostID: "c", PinnedAt: at(0), PostCreatedAt: at(8), Placement: "default"},
	}
	for name, test := range map[string]struct {
		sortBy, orderBy string
		want            []string
	}{
		"by pin, newest first":  {"lastPinned", "desc", []string{"b", "a", "c default", "c announcement"}},
		"default":               {"", "", []string{"b", "a", "c default", "c announcement"}},
		"by pin, oldest first":  {"lastPinned", "asc", []string{"c announcement", "c default", "a", "b"}},
		"by post, newest first": {"lastCreated", "", []string{"b", "c default", "c announcement", "a"}},
		"by post, oldest first": {"lastCreated", "asc", []string{"a", "c announcement", "c default", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // also from the reverse order
				got := slices.Clone(pins)
				slices.Reverse(got)
				slices.SortFunc(got, orderOf(test.sortBy, &plazav1.PinOptions{OrderBy: test.orderBy}))
				require.Equal(t, test.want, service.Map(got, func(p content.Pin) string {
					if p.Placement == "" {
						return p.PostID
					}
					return p.PostID + " " + p.Placement
				}))
			}
		})
	}
}

func TestAddPinned(t *testing.T) {
	t.Parallel()
	noon := servicetest.Noon
	all := &content.Pins{
		Pins: []content.Pin{
			{PostID: "shown", CommunityID: "c", Placement: "default"},
			{PostID: "shown", CommunityID: "c", Placement: "announcement"},
			{PostID: "deleted", CommunityID: "c"},
			{PostID: "declined", CommunityID: "c"},
			{PostID: "missing", CommunityID: "c"},
			{PostID: "in a deleted community", CommunityID: "gone"},
			{PostID: "in an invisible community", CommunityID: "hidden"},
			{PostID: "second", CommunityID: "c"},
		},
		Posts: []content.Post{
			{ID: "shown", FeedType: "published"},
			{ID: "deleted", FeedType: "published", DeletedAt: &noon},
			{ID: "declined", FeedType: "declined"},
			{ID: "in a deleted community", FeedType: "published"},
			{ID: "in an invisible community", FeedType: "published"},
			{ID: "second", FeedType: "published"},
		},
		Communities: []communities.Community{{ID: "c"}, {ID: "gone", DeletedAt: &noon}},
	}
	var k view.Rows
	require.Equal(t, []string{"shown", "shown", "second"}, idsOf(addPinned(&k, all)), "at each placement")
	require.Equal(t, []string{"shown", "second"}, service.Map(k.Posts, func(p content.Post) string { return p.ID }), "each post once")
	require.Equal(t, []string{"c"}, service.Map(k.Communities, func(c communities.Community) string { return c.ID }), "each community once")
}

func TestLatestTarget(t *testing.T) {
	t.Parallel()
	require.Empty(t, latest(nil))
	targets := []content.PinTarget{{TargetID: "n", ChangedAt: at(1)}, {TargetID: "n", ChangedAt: at(3)}, {TargetID: "n", ChangedAt: at(2)}}
	require.Equal(t, targets[1:2], latest(targets))
}

func TestPinOf(t *testing.T) {
	t.Parallel()
	pins := []content.Pin{{PostID: "a"}, {PostID: "b", PinnedByID: "anna"}, {PostID: "b", PinnedByID: "bob"}}
	require.Equal(t, []string{"anna"}, pinners(of(pins, "b")))
	require.Empty(t, of(pins, "c"))
}

func TestPinByAdministrator(t *testing.T) {
	t.Parallel()
	s := New(&service.Deps{Now: func() time.Time { return servicetest.Noon }})
	r := &visibility.Request{Request: &service.Request{Caller: servicetest.Admin()}}
	r.Post = &content.Post{ID: "p", TargetID: "c", CreatedAt: at(-1)}
	require.Equal(t, content.Pin{
		TargetID: "n", Placement: "global", PostID: "p", CommunityID: "c", PinnedBy: "admin", PinnedAt: servicetest.Noon, PostCreatedAt: at(-1),
	}, s.pin(r, "n", "global"))
}
