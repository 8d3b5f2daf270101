package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const archivesPath = "/api/v1/archives/channels"

// archive archives a channel, or returns it to the list of channels if method is DELETE.
func archive(t *testing.T, by *apptest.Client, method, channelID string) {
	t.Helper()
	r := by.Do(t, method, archivesPath+"/"+channelID, nil).OK(t)
	require.JSONEq(t, `{"success":true}`, string(r.Body))
}

// TestArchiveChannels archives conversations of every region. They move from the caller's list of channels to the list of
// archived ones; other members see no difference.
func TestArchiveChannels(t *testing.T) {
	t.Parallel()
	alice, bob := newUser(t, region.EU, "alice"), newUser(t, region.US, "bob")
	var ids []string
	for i := range 7 {
		nextMillisecond()
		body := object{"userIds": userIDs(bob), "isDistinct": false}
		ids = append(ids, text(requireChannel(t, alice.At(region.All()[i%3]).Do(t, http.MethodPost, conversationPath, body)), "channelId"))
	}
	own := newChannel(t, alice)
	mine := listing{by: alice, path: channelsPath, list: "channels", id: "channelId"}.with("filter", "member")
	archived := listing{by: alice, path: archivesPath, list: "channels", id: "channelId"}
	archived.requireOrder(t, []string{})
	for i, id := range ids {
		archive(t, alice.At(region.All()[i%3]), http.MethodPost, id)
	}
	archive(t, alice, http.MethodPost, ids[0])
	archived.requirePages(t, 2, reversed(ids))
	archived.as(alice.At(region.SG)).requirePages(t, 3, reversed(ids))
	archived.requireLimits(t)
	requireAggregate(t, archived.page(t, nil), "", channelAggregate)
	mine.requireOrder(t, []string{own})
	mine.with("sortBy", "displayName").requireOrder(t, []string{own})
	archived.as(bob).requireOrder(t, []string{})
	mine.as(bob).requireOrder(t, reversed(ids))
	require.Equal(t, ids[1], getChannel(t, alice, ids[1])["channelId"])

	archive(t, alice.At(region.US), http.MethodDelete, ids[1])
	archive(t, alice, http.MethodDelete, ids[1])
	archived.requireOrder(t, reversed(append([]string{ids[0]}, ids[2:]...)))
	mine.requireOrder(t, []string{own, ids[1]})
	alice.Do(t, http.MethodDelete, channelPath(ids[2])+"/leave", nil).OK(t)
	archived.requireOrder(t, reversed(append([]string{ids[0]}, ids[3:]...)))
	archive(t, alice, http.MethodDelete, ids[2])
}

func TestArchiveRefusals(t *testing.T) {
	t.Parallel()
	alice, bob, stranger := newUser(t, region.EU, "alice"), newUser(t, region.US, "bob"), newUser(t, region.SG, "stranger")
	conversation := text(requireChannel(t, createConversation(t, alice, bob)), "channelId")
	group := newChannel(t, alice)
	requireAttempts(t, []attempt{
		{"conversation of others", stranger, http.MethodPost, archivesPath + "/" + conversation, nil, notFound},
		{"channel of others", stranger, http.MethodPost, archivesPath + "/" + group, nil, notMember},
		{"not a conversation", alice, http.MethodPost, archivesPath + "/" + group, nil, forbidden},
		{"unknown", alice, http.MethodPost, archivesPath + "/" + unknownID, nil, notFound},
		{"no account", admin(t), http.MethodPost, archivesPath + "/" + conversation, nil, forbidden},
		{"no account for the list", admin(t), http.MethodGet, archivesPath, nil, forbidden},
		{"no account to remove", admin(t), http.MethodDelete, archivesPath + "/" + conversation, nil, forbidden},
	})
	admin(t).Do(t, http.MethodDelete, channelPath(conversation), nil).OK(t)
	requireFailure(t, notFound, alice.Do(t, http.MethodPost, archivesPath+"/"+conversation, nil))
}
