package delivery

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/publicnet"
)

// publicNames are the names of events in deliveries, by the names of the realtime events. The first one is that of a webhook for
// all events; a webhook can ask for another one. An event that is not here has its realtime name.
var publicNames = map[string][]string{
	"channel.created":         {"channel.didCreate"},
	"channel.updated":         {"channel.didUpdate"},
	"channel.deleted":         {"channel.didClose"},
	"channel.joined":          {"channel.didJoin"},
	"channel.left":            {"channel.didLeave"},
	"channel.membersAdded":    {"channel.didAddUsers"},
	"channel.membersRemoved":  {"channel.didRemoveUsers"},
	"channel.banned":          {"channel.didBan"},
	"message.created":         {"message.didCreate", "v5.message.didCreate"},
	"message.updated":         {"message.didUpdate", "v5.message.didUpdate"},
	"message.deleted":         {"message.didDelete", "v5.message.didDelete"},
	"message.flagged":         {"message.didFlag"},
	"message.unflagged":       {"message.didUnflag"},
	"message.flagCleared":     {"message.didClearflag"},
	"message.reactionAdded":   {"message.didAddReaction"},
	"message.reactionRemoved": {"message.didRemoveReaction"},
	"user.updated":            {"user.didUpdate"},
	"user.flagged":            {"user.didFlag"},
	"user.unflagged":          {"user.didUnflag"},
	"user.flagCleared":        {"user.didClearFlag"},
	"follow.created":          {"follow.didCreate"},
	"follow.requested":        {"follow.didRequest"},
	"follow.accepted":         {"follow.didAcceptRequest"},
	"follow.requestDeclined":  {"follow.didDeclineRequest"},
	"follow.requestCanceled":  {"follow.didCancelRequest"},
	"follow.unfollowed":       {"follow.didUnfollow"},
	"follow.followerDeleted":  {"follow.didDeleteFollower"},
	"community.created":       versioned("community.didCreate"),
	"community.updated":       versioned("community.didUpdate"),
	"community.deleted":       versioned("community.didDelete"),
	"community.joined":        versioned("community.didJoin"),
	"community.left":          versioned("community.didLeave"),
	"community.userAdded":     versioned("community.didAddUsers"),
	"community.userRemoved":   versioned("community.didRemoveUsers"),
	"community.userBanned":    versioned("community.didBan"),
	"community.userUnbanned":  versioned("community.didUnban"),
	"community.roleAdded":     versioned("community.didRoleChange"),
	"community.roleRemoved":   versioned("community.didRoleChange"),
	"post.created":            versioned("post.didCreate"),
	"post.updated":            versioned("post.didUpdate"),
	"post.deleted":            versioned("post.didDelete"),
	"post.approved":           versioned("post.didApprove"),
	"post.declined":           versioned("post.didDecline"),
	"post.flagged":            versioned("post.didFlag"),
	"post.unflagged":          versioned("post.didUnflag"),
	"post.addReaction":        versioned("post.didAddReaction"),
	"post.removeReaction":     versioned("post.didRemoveReaction"),
	"comment.created":         versioned("comment.didCreate"),
	"comment.updated":         versioned("comment.didUpdate"),
	"comment.deleted":         versioned("comment.didDelete"),
	"comment.flagged":         versioned("comment.didFlag"),
	"comment.unflagged":       versioned("comment.didUnflag"),
	"comment.addReaction":     versioned("comment.didAddReaction"),
	"comment.removeReaction":  versioned("comment.didRemoveReaction"),
}

// versioned returns the names of an event with and without the version.
func versioned(name string) []string { return []string{"v3." + name, name} }

// namesOf returns the names of an event, the first of which is the one of a webhook for all events.
func namesOf(realtime string) []string { return append(slices.Clone(publicNames[realtime]), realtime) }

// nameFor returns the name by which a webhook for some events, or for all, gets an event; empty if it does not.
func nameFor(realtime string, wanted []string) string {
	names := namesOf(realtime)
	if len(wanted) == 0 {
		return names[0]
	}
	if i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(wanted, name) }); i >= 0 {
		return names[i]
	}
	return ""
}

var known = func() map[string]bool {
	all := map[string]bool{}
	for _, realtime := range events.Names() {
		for _, name := range namesOf(realtime) {
			all[name] = true
		}
	}
	delete(all, events.MarkerUserSync) // of interest to the devices of one user only
	return all
}()

// UnknownName returns the first name that no event has, or an empty text.
func UnknownName(names []string) string {
	i := slices.IndexFunc(names, func(name string) bool { return !known[name] })
	if i < 0 {
		return ""
	}
	return strings.ToValidUTF8(names[i], "")
}

// CheckURL returns an error unless events can be sent to an address. networks are those that may be used although their addresses
// are not public. The addresses of names are checked when connections are made.
func CheckURL(address string, networks []netip.Prefix) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		return errors.New("must be an https or http address with a host and without a user name")
	}
	return publicnet.CheckHost(networks, u.Hostname(), u.Port())
}
