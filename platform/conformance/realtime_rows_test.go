package conformance

import "testing"

// eventPlace is a kind of place, and what happens there.
type eventPlace struct {
	name   string
	walk   func(t *testing.T, w *eventWalk, public bool)
	public bool
}

// eventPlaces returns all places. A new event adds its row to one of them.
func eventPlaces() []eventPlace {
	return []eventPlace{
		{"a public community", walkCommunity, true},
		{"a private community", walkCommunity, false},
		{"a community that reviews posts", walkReview, true},
		{"public walls", walkWall, true},
		{"private walls", walkWall, false},
		{"content", walkClientContent, true},
		{"a public channel", walkChannel, true},
		{"a private channel", walkChannel, false},
		{"a room in a public community", walkRoom, true},
		{"a room in a private community", walkRoom, false},
		{"a stream in a public community", walkStream, true},
		{"a stream in a private community", walkStream, false},
		{"follows", walkFollows, true},
		{"profiles", walkProfiles, true},
	}
}
