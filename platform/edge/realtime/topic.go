package realtime

import (
	"maps"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
)

// maxFilter is the maximum length of a topic filter.
const maxFilter = 512

// filterRule says who may subscribe to a topic filter: the users who see place, or if own is not empty, the user with that internal id.
type filterRule struct {
	place events.Place
	own   []string
}

// parseFilter returns the rule of a topic filter below the topic of the network, and whether there is one. The part of a
// filter that names the place has no wildcards, so that each filter belongs to one place.
func parseFilter(networkID, filter string) (filterRule, bool) {
	if len(filter) > maxFilter {
		return filterRule{}, false
	}
	parts := strings.Split(filter, "/")
	if parts[0] != networkID {
		return filterRule{}, false
	}
	if len(parts) == 1 {
		return filterRule{place: events.Place{Kind: events.PlaceContent}}, true
	}
	parse := filterRules[parts[1]]
	if parse == nil {
		return filterRule{}, false
	}
	return parse(parts[2:])
}

// filterRules maps the second level of a topic filter to what parses the rest.
var filterRules = map[string]func(rest []string) (filterRule, bool){
	"user":           placeFilter(events.PlaceProfile),
	"smartfeed":      smartFeedFilter,
	"marker":         markerFilter,
	"videostreaming": everyoneFilter,
	"social":         socialFilter,
	"membership":     membershipFilter,
	"chat":           placeFilter(events.PlaceChannel),
	"room":           roomFilter,
}

// TopicKinds returns the second level of all topics, sorted.
func TopicKinds() []string { return slices.Sorted(maps.Keys(filterRules)) }

func everyoneFilter(rest []string) (filterRule, bool) {
	return filterRule{place: events.Place{Kind: events.PlaceContent}}, len(rest) == 0
}

// placeFilter returns what parses the topics of a kind of places, and of what belongs to them.
func placeFilter(kind string) func(rest []string) (filterRule, bool) {
	return func(rest []string) (filterRule, bool) {
		if len(rest) == 0 || !region.ValidID(rest[0]) {
			return filterRule{}, false
		}
		return filterRule{place: events.Place{Kind: kind, ID: rest[0]}}, true
	}
}

// smartFeeds are the topics of events about all channels of a user.
var smartFeeds = []string{"channels", "messagefeeds", "messages"}

func smartFeedFilter(rest []string) (filterRule, bool) {
	if len(rest) != 2 || !slices.Contains(smartFeeds, rest[1]) {
		return filterRule{}, false
	}
	return filterRule{own: rest[:1]}, region.ValidID(rest[0])
}

func markerFilter(rest []string) (filterRule, bool) {
	switch {
	case len(rest) == 2 && rest[0] == "user":
		return filterRule{own: rest[1:]}, region.ValidID(rest[1])
	case len(rest) == 4 && rest[0] == "channel" && rest[2] == "message":
		return placeFilter(events.PlaceChannel)(rest[1:])
	}
	return filterRule{}, false
}

func socialFilter(rest []string) (filterRule, bool) {
	if len(rest) < 2 || !slices.Contains([]string{events.PlaceCommunity, events.PlaceWall, events.PlaceContent}, rest[0]) {
		return filterRule{}, false
	}
	return placeFilter(rest[0])(rest[1:])
}

// membershipFilter accepts <user>/+/+ (the followers of a user) and +/<user>/+ (whom a user follows), for that user.
func membershipFilter(rest []string) (filterRule, bool) {
	if len(rest) != 3 {
		return filterRule{}, false
	}
	rule := filterRule{}
	for _, id := range rest[:2] {
		if region.ValidID(id) {
			rule.own = append(rule.own, id)
		}
	}
	return rule, len(rule.own) > 0
}

// roomFilter accepts <room>, for those who may watch it, and <room>/streamer, for those who take part.
func roomFilter(rest []string) (filterRule, bool) {
	switch {
	case len(rest) == 1:
		return placeFilter(events.PlaceRoom)(rest)
	case len(rest) == 2 && rest[1] == "streamer":
		return placeFilter(events.PlaceStage)(rest)
	}
	return filterRule{}, false
}
