package messagefeed

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestReadableFeeds(t *testing.T) {
	t.Parallel()
	feeds := []messaging.MessageFeed{
		{ID: "a", EntityID: "mine"},
		{ID: "b", EntityID: "mine"},
		{ID: "deleted", EntityID: "mine", DeletedAt: &servicetest.Noon},
		{ID: "secret", EntityID: "foreign"},
	}
	for name, test := range map[string]struct{ ids, want []string }{
		"in the order of the request": {[]string{"b", "a"}, []string{"b", "a"}},
		"each once":                   {[]string{"a", "b", "a"}, []string{"a", "b"}},
		"unknown":                     {[]string{"a", "missing"}, []string{"a"}},
		"deleted":                     {[]string{"deleted", "a"}, []string{"a"}},
		"of an unreadable channel":    {[]string{"secret"}, []string{}},
		"none":                        {nil, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := readableFeeds(test.ids, feeds, map[string]bool{"mine": true, "foreign": false})
			require.Equal(t, test.want, service.Map(got, func(f messaging.MessageFeed) string { return f.ID }))
		})
	}
}

func TestPageOptions(t *testing.T) {
	t.Parallel()
	limit := int32(7)
	cursor, err := page.Parse(page.Options(&plazav1.MessageFeedListOptions{Limit: &limit}), page.DefaultLimit)
	require.NoError(t, err)
	require.Equal(t, 7, cursor.Limit)
	cursor, err = page.Parse(page.Options((*plazav1.MessageFeedListOptions)(nil)), page.DefaultLimit)
	require.NoError(t, err)
	require.Equal(t, page.DefaultLimit, cursor.Limit)
	_, err = page.Parse(page.Options(&plazav1.MessageFeedListOptions{Token: "x"}), page.DefaultLimit)
	require.Equal(t, fail.KindValidation, fail.From(err).Kind)
}

// Access that was not resolved, and a channel that does not exist, allow no change to anyone.
func TestNoChangeWithoutAccess(t *testing.T) {
	t.Parallel()
	s := New(&service.Deps{})
	member := &messaging.ChannelUser{Membership: messaging.ChannelMember}
	for name, access := range map[string]chat.Access{
		"zero":               {},
		"unresolved channel": {Channel: &messaging.Channel{IsPublic: true}, User: member},
		"unresolved conversation": {
			Channel: &messaging.Channel{Type: messaging.ChannelConversation},
			User:    &messaging.ChannelUser{Membership: messaging.ChannelBanned},
		},
		"a member of no known channel": {User: member},
	} {
		for _, r := range []*service.Request{{Caller: servicetest.User(t, "u")}, {Caller: servicetest.Admin()}} {
			require.Equal(t, fail.CodeNotFound, servicetest.CodeOf(s.requireChange(access, r)), name)
		}
	}
}
