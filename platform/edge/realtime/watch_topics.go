package realtime

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
)

// severalEvents is the name of the stream of several events, which its parameter event names.
const severalEvents = "events"

// namesOf returns the names of the events in a stream; nil for all.
func namesOf(name string, query url.Values) (map[string]bool, error) {
	if name != severalEvents {
		return map[string]bool{eventNameOf(name): true}, nil
	}
	given := query["event"]
	if len(given) == 0 {
		return nil, nil // all events
	}
	wanted := map[string]bool{}
	for _, name := range given {
		if !events.Known(eventNameOf(name)) {
			return nil, fail.Validation("event: must be the name of a realtime event, such as post.created")
		}
		wanted[eventNameOf(name)] = true
	}
	return wanted, nil
}

// eventNameOf returns the name of the events of a stream.
func eventNameOf(name string) string {
	if known := names[name]; known != "" {
		return known
	}
	return name
}

// topicsOf returns the topic filters of a stream: those of its parameters topic, or if there are none, the topics of what concerns the
// user.
func (b *broker) topicsOf(ctx context.Context, s *subscriber, given []string) ([]string, error) {
	if len(given) == 0 {
		return b.ownTopics(ctx, s.UserID())
	}
	if len(given) > maxNamedTopics {
		return nil, errTooManyTopics
	}
	for _, filter := range given {
		if _, ok := parseFilter(b.hub.NetworkID, filter); !ok || !validWildcards(filter) {
			return nil,
				fail.Validation("topic: must be a topic of the network, such as the path of a community, post, channel or user, optionally with " +
					"/# at the end")
		}
	}
	permitted, err := b.permits(ctx, s, given)
	if err != nil {
		return nil, fail.RateLimited("topic: the rate limit of the user leaves too few requests to check so many topics", time.Second)
	}
	if slices.Contains(permitted, false) {
		return nil, fail.Forbidden("topic: you may not receive the events of every topic that you name")
	}
	return given, nil
}

// maxNamedTopics is the maximum number of topics in the address of a stream. Addresses with more would exceed the limit of a request's
// headers.
const maxNamedTopics = 500

var errTooManyTopics = fail.Validation(fmt.Sprintf("topic: a stream has at most %d topics", maxNamedTopics))

// ownTopics returns the topics of a user's profile, follows, channels, markers, posts and communities.
func (b *broker) ownTopics(ctx context.Context, userID string) ([]string, error) {
	var communities []string
	reads := b.hub.Store.NewReadBatch()
	reads.CommunitiesOfUser(userID, &communities)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	network := b.hub.NetworkID
	topics := []string{
		b.hub.View.UserPath(userID) + "/#", network + "/marker/user/" + userID, network + "/membership/" + userID + "/+/+",
		network + "/membership/+/" + userID + "/+", network + "/social/" + events.PlaceWall + "/" + userID + "/#",
	}
	for _, feed := range smartFeeds {
		topics = append(topics, b.smartFeedTopic(userID, feed))
	}
	for _, id := range communities {
		topics = append(topics, b.hub.View.CommunityPath(id)+"/#")
	}
	if len(topics) > maxSubscriptions {
		return nil, fail.Validation("topic: you are a member of too many communities to watch all of them: name the topics")
	}
	return topics, nil
}

// validWildcards reports whether the wildcards of a filter are whole levels, and # the last one.
func validWildcards(filter string) bool {
	levels := strings.Split(filter, "/")
	for i, level := range levels {
		if strings.ContainsAny(level, "+#") && len(level) > 1 || level == "#" && i < len(levels)-1 {
			return false
		}
	}
	return true
}
