package flags

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
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
		"post":               {OfPost(content.Post{TargetType: "community", TargetID: "c"}), false, "c"},
		"post on a wall":     {OfPost(content.Post{TargetType: "user", TargetID: "w"}), false, ""},
		"post that waits":    {OfPost(content.Post{FeedType: "reviewing"}), false, ""},
		"declined post":      {OfPost(content.Post{FeedType: "declined"}), true, ""},
		"deleted post":       {OfPost(content.Post{DeletedAt: noon}), true, ""},
		"comment":            {OfComment(content.Comment{TargetType: "community", TargetID: "c", ApprovalStatus: content.Approved}), false, "c"},
		"comment that waits": {OfComment(content.Comment{ApprovalStatus: content.Pending}), false, ""},
		"declined comment":   {OfComment(content.Comment{ApprovalStatus: content.Declined}), true, ""},
		"deleted comment":    {OfComment(content.Comment{DeletedAt: noon}), true, ""},
		"story":              {OfStory(content.Story{TargetType: "community", TargetID: "c"}), false, "c"},
		"story on a wall":    {OfStory(content.Story{TargetType: "user", TargetID: "w"}), false, ""},
		"deleted story":      {OfStory(content.Story{DeletedAt: noon}), true, ""},
		"message":            {OfMessage(messaging.Message{ChannelID: "channel"}), false, "channel"},
		"deleted message":    {OfMessage(messaging.Message{DeletedAt: noon}), true, ""},
		"user":               {OfUser(people.User{ID: "u"}), false, ""},
		"deleted user":       {OfUser(people.User{DeletedAt: noon}), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.removed, test.target.Removed)
			require.Equal(t, test.place, test.target.PlaceID)
		})
	}
}
