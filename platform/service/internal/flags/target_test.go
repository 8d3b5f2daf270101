package flags

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
)

func TestTargets(t *testing.T) {
	t.Parallel()
	noon := &servicetest.Noon
	for name, test := range map[string]struct {
		target  Target
		removed bool
		place   string
	}{
		"missing":            {Missing("id"), true, ""},
		"post":               {OfPost(store.Post{TargetType: "community", TargetID: "c"}), false, "c"},
		"post on a wall":     {OfPost(store.Post{TargetType: "user", TargetID: "w"}), false, ""},
		"post that waits":    {OfPost(store.Post{FeedType: "reviewing"}), false, ""},
		"declined post":      {OfPost(store.Post{FeedType: "declined"}), true, ""},
		"deleted post":       {OfPost(store.Post{DeletedAt: noon}), true, ""},
		"comment":            {OfComment(store.Comment{TargetType: "community", TargetID: "c", ApprovalStatus: store.Approved}), false, "c"},
		"comment that waits": {OfComment(store.Comment{ApprovalStatus: store.Pending}), false, ""},
		"declined comment":   {OfComment(store.Comment{ApprovalStatus: store.Declined}), true, ""},
		"deleted comment":    {OfComment(store.Comment{DeletedAt: noon}), true, ""},
		"story":              {OfStory(store.Story{TargetType: "community", TargetID: "c"}), false, "c"},
		"story on a wall":    {OfStory(store.Story{TargetType: "user", TargetID: "w"}), false, ""},
		"deleted story":      {OfStory(store.Story{DeletedAt: noon}), true, ""},
		"message":            {OfMessage(store.Message{ChannelID: "channel"}), false, "channel"},
		"deleted message":    {OfMessage(store.Message{DeletedAt: noon}), true, ""},
		"user":               {OfUser(store.User{ID: "u"}), false, ""},
		"deleted user":       {OfUser(store.User{DeletedAt: noon}), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.removed, test.target.Removed)
			require.Equal(t, test.place, test.target.PlaceID)
		})
	}
}
