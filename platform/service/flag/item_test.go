package flag

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// deps returns dependencies without a database: reads of malformed ids read nothing, and all others fail.
func deps() *service.Deps {
	return &service.Deps{
		Store: store.New(new(db.DB)), View: &view.Builder{}, Now: func() time.Time { return servicetest.Noon },
	}
}

// community returns a public community with the caller's membership, which is nil for an empty state.
func community(state string, roles ...string) visibility.Target {
	t := visibility.Target{Community: &communities.Community{ID: "c", IsPublic: true, CreatorID: "creator"}}
	if state != "" {
		t.Member = &communities.Member{UserID: "u", State: state, Roles: roles}
	}
	return t
}

func newItem(caller *auth.Caller, item content.FlagItem, target visibility.Target) *itemRequest {
	d := deps()
	return &itemRequest{Request: &service.Request{ReadBatch: d.Store.NewReadBatch(), Deps: d, Caller: caller}, item: &item, target: target}
}

func TestWhoSeesAndChangesAnItem(t *testing.T) {
	t.Parallel()
	var (
		nowhere   visibility.Target
		moderates = community(communities.StateMember, auth.RoleCommunityModerator)
		joined    = community(communities.StateMember)
		banned    = community(communities.StateBanned, auth.RoleCommunityModerator)
		hidden    = community(communities.StateMember, auth.RoleCommunityModerator)
		gone      = community(communities.StateMember, auth.RoleCommunityModerator)
	)
	hidden.Community.IsPublic = false
	gone.Community.DeletedAt = &servicetest.Noon
	user, moderator, admin := servicetest.User(t, "u"), servicetest.User(t, "u", auth.RoleModerator), servicetest.Admin()
	for name, test := range map[string]struct {
		caller *auth.Caller
		kind   content.FlagTarget
		target visibility.Target
		sees   bool
		change fail.Code
	}{
		"post, stranger":                      {user, content.FlagPost, community(""), false, fail.CodeForbidden},
		"post, member":                        {user, content.FlagPost, joined, false, fail.CodeForbidden},
		"post, moderator":                     {user, content.FlagPost, moderates, true, 0},
		"post, moderator, private community":  {user, content.FlagPost, hidden, true, 0},
		"post, banned moderator":              {user, content.FlagPost, banned, false, fail.CodeBanned},
		"post, deleted community":             {user, content.FlagPost, gone, false, 0},
		"post, network moderator":             {moderator, content.FlagPost, community(""), true, 0},
		"post, administrator":                 {admin, content.FlagPost, community(""), true, 0},
		"comment, moderator":                  {user, content.FlagComment, moderates, true, 0},
		"comment, member":                     {user, content.FlagComment, joined, false, fail.CodeForbidden},
		"story, moderator":                    {user, content.FlagStory, moderates, true, 0},
		"story, member":                       {user, content.FlagStory, joined, false, fail.CodeForbidden},
		"story, network moderator":            {moderator, content.FlagStory, community(""), true, 0},
		"post on a wall, user":                {user, content.FlagPost, nowhere, false, fail.CodeForbidden},
		"post on a wall, network moderator":   {moderator, content.FlagPost, nowhere, true, 0},
		"user, user":                          {user, content.FlagUser, nowhere, false, fail.CodeForbidden},
		"user, network moderator":             {moderator, content.FlagUser, nowhere, true, 0},
		"user, administrator":                 {admin, content.FlagUser, nowhere, true, 0},
		"message, user without access":        {user, content.FlagMessage, nowhere, false, fail.CodeForbidden},
		"message, network moderator, no rows": {moderator, content.FlagMessage, nowhere, true, fail.CodeForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			item := content.FlagItem{TargetID: "t", TargetType: test.kind}
			if test.target.Community != nil {
				item.PlaceID = test.target.Community.ID
			} else if test.kind == content.FlagMessage {
				item.PlaceID = "channel"
			}
			r := newItem(test.caller, item, test.target)
			require.Equal(t, test.sees, r.maySee())
			r.checkChange()
			require.Equal(t, test.change, servicetest.CodeOf(runAs(t, r)))
		})
	}
}

// runAs makes the checks of a request that reads nothing, as its caller.
func runAs(t *testing.T, r *itemRequest) error {
	t.Helper()
	return r.Run(auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin})) // the caller of r was confirmed before
}

func TestWhoSeesTheQueueOfAPlace(t *testing.T) {
	t.Parallel()
	user, moderator := servicetest.User(t, "u"), servicetest.User(t, "u", auth.RoleModerator)
	private := community("")
	private.Community.IsPublic, private.Community.IsDiscoverable = false, true
	for name, test := range map[string]struct {
		caller *auth.Caller
		target visibility.Target
		want   fail.Code
	}{
		"moderator":                            {user, community(communities.StateMember, auth.RoleCommunityModerator), 0},
		"member":                               {user, community(communities.StateMember), fail.CodeForbidden},
		"stranger":                             {user, community(""), fail.CodeForbidden},
		"stranger to a private community":      {user, private, fail.CodePermissionDenied},
		"network moderator, private community": {moderator, private, 0},
		"banned moderator":                     {user, community(communities.StateBanned, auth.RoleCommunityModerator), fail.CodeBanned},
		"community does not exist":             {user, visibility.Target{}, fail.CodeNotFound},
		"nor for a moderator":                  {moderator, visibility.Target{}, fail.CodeNotFound},
		"administrator":                        {servicetest.Admin(), private, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, servicetest.CodeOf(requireCommunity(test.caller, test.target)))
		})
	}
	for _, caller := range []*auth.Caller{user, moderator, servicetest.Admin()} {
		require.Equal(t, fail.CodeNotFound, servicetest.CodeOf(requireChannel(caller, chat.Access{})), "a channel that was not read")
	}
}

func TestReadPlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		filter placeFilter
		caller *auth.Caller
		err    error
	}{
		"everywhere, administrator":     {&plazav1.ListFlagItemsRequest{}, servicetest.Admin(), nil},
		"everywhere, network moderator": {&plazav1.ListFlagItemsRequest{}, servicetest.User(t, "m", auth.RoleModerator), nil},
		"everywhere, user":              {&plazav1.ListFlagItemsRequest{}, servicetest.User(t, "u"), fail.NotAllowed()},
		"two places":                    {&plazav1.ListFlagItemsRequest{CommunityId: "c", ChannelId: "d"}, servicetest.Admin(), errTwoPlaces},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newItem(test.caller, content.FlagItem{}, visibility.Target{})
			require.Empty(t, readPlace(r.Request, test.filter))
			err := runAs(t, r)
			if test.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, test.err)
		})
	}
}

func TestWhoOverridesAHolder(t *testing.T) {
	t.Parallel()
	noon := servicetest.Noon
	user, admin := servicetest.User(t, "u"), servicetest.Admin()
	networkModerator := servicetest.User(t, "n", auth.RoleModerator)
	moderates := community(communities.StateMember, auth.RoleCommunityModerator)
	for name, test := range map[string]struct {
		caller *auth.Caller
		target visibility.Target
		holder string
		err    error
	}{
		"the holder":                            {user, moderates, "u", nil},
		"an administrator":                      {admin, moderates, "other", nil},
		"an administrator, over another one":    {admin, moderates, content.FlagAdministrator, nil},
		"a moderator, over an administrator":    {user, moderates, content.FlagAdministrator, errHeld},
		"a network moderator, over the creator": {networkModerator, moderates, "creator", nil},
		"a moderator, over the creator":         {user, moderates, "creator", errHeld},
		"a moderator, over a former moderator":  {user, moderates, "other", nil},
		"a member, over a former moderator":     {user, community(communities.StateMember), "other", errHeld},
		"no place, over a former moderator":     {networkModerator, visibility.Target{}, "other", nil},
		"no place, by a user":                   {user, visibility.Target{}, "other", errHeld},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			until := noon.Add(time.Second)
			claimed := content.FlagItem{State: content.FlagsClaimed, ClaimedBy: test.holder, ClaimedUntil: &until}
			resolved := content.FlagItem{State: content.FlagsResolved, ResolvedBy: test.holder}
			require.Equal(t, test.err, newItem(test.caller, claimed, test.target).requireResolve(t.Context()), "claimed")
			require.Equal(t, test.err, newItem(test.caller, resolved, test.target).requireResolve(t.Context()), "resolved")
			r := newItem(test.caller, claimed, test.target)
			r.checkOpen(noon)
			require.Equal(t, test.err, runAs(t, r), "claim and release")
		})
	}
}

// TestLease tests which states of an item keep an equal from claiming, releasing and resolving it.
func TestLease(t *testing.T) {
	t.Parallel()
	noon := servicetest.Noon
	before, after := noon.Add(-time.Nanosecond), noon.Add(time.Nanosecond)
	held := func(until *time.Time) content.FlagItem {
		return content.FlagItem{State: content.FlagsClaimed, ClaimedBy: "creator", ClaimedUntil: until}
	}
	for name, test := range map[string]struct {
		item                 content.FlagItem
		claimErr, resolveErr error
	}{
		"open":                            {content.FlagItem{State: content.FlagsOpen}, nil, nil},
		"claimed":                         {held(&after), errHeld, errHeld},
		"at the end of the lease":         {held(&noon), nil, nil},
		"after the lease":                 {held(&before), nil, nil},
		"claimed without an end":          {held(nil), nil, nil},
		"resolved by another":             {content.FlagItem{State: content.FlagsResolved, ResolvedBy: "creator"}, errResolved, errHeld},
		"resolved by the caller":          {content.FlagItem{State: content.FlagsResolved, ResolvedBy: "u"}, errResolved, nil},
		"resolved because it had no flag": {content.FlagItem{State: content.FlagsResolved}, errResolved, nil},
		"released after a claim":          {content.FlagItem{State: content.FlagsOpen, ClaimedBy: "creator", ClaimedUntil: &after}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newItem(servicetest.User(t, "u"), test.item, community(communities.StateMember, auth.RoleCommunityModerator))
			require.Equal(t, test.resolveErr, r.requireResolve(t.Context()))
			r.checkOpen(noon)
			require.Equal(t, test.claimErr, runAs(t, r))
		})
	}
}

func TestAuthorityInPlace(t *testing.T) {
	t.Parallel()
	creator := servicetest.User(t, "creator")
	channel := func(kind, creatorID string, roles ...string) chat.Access {
		return chat.Access{
			Channel: &messaging.Channel{Type: kind, CreatorID: creatorID}, User: &messaging.ChannelUser{
				Membership: messaging.ChannelMember,
				Roles:      roles,
			},
		}
	}
	for name, test := range map[string]struct {
		target visibility.Target
		access chat.Access
		want   auth.Authority
	}{
		"nowhere":                   {visibility.Target{}, chat.Access{}, auth.AuthorityNone},
		"creator of a community":    {community(""), chat.Access{}, auth.AuthorityCreator},
		"creator of a channel":      {visibility.Target{}, channel("community", "creator"), auth.AuthorityCreator},
		"creator of a conversation": {visibility.Target{}, channel(messaging.ChannelConversation, "creator"), auth.AuthorityNone},
		"moderator of a channel":    {visibility.Target{}, channel("community", "x", auth.RoleChannelModerator), auth.AuthorityModerator},
		"member of a channel":       {visibility.Target{}, channel("community", "x"), auth.AuthorityNone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newItem(creator, content.FlagItem{}, test.target)
			r.access = test.access
			require.Equal(t, test.want, r.authorityInPlace())
		})
	}
}
