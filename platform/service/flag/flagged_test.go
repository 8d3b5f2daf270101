package flag

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
)

func TestFlaggedTargets(t *testing.T) {
	t.Parallel()
	noon := &servicetest.Noon
	for name, test := range map[string]struct {
		target           flagged
		deleted, removed bool
		place            string
	}{
		"missing":            {flagged{}, true, true, ""},
		"post":               {flagged{post: &store.Post{TargetType: "community", TargetID: "c"}}, false, false, "c"},
		"post on a wall":     {flagged{post: &store.Post{TargetType: "user", TargetID: "w"}}, false, false, ""},
		"post that waits":    {flagged{post: &store.Post{FeedType: "reviewing"}}, false, false, ""},
		"declined post":      {flagged{post: &store.Post{FeedType: "declined"}}, false, true, ""},
		"deleted post":       {flagged{post: &store.Post{DeletedAt: noon}}, true, true, ""},
		"comment":            {flagged{comment: &store.Comment{TargetType: "community", TargetID: "c", ApprovalStatus: store.Approved}}, false, false, "c"},
		"comment that waits": {flagged{comment: &store.Comment{ApprovalStatus: store.Pending}}, false, false, ""},
		"declined comment":   {flagged{comment: &store.Comment{ApprovalStatus: store.Declined}}, false, true, ""},
		"deleted comment":    {flagged{comment: &store.Comment{DeletedAt: noon}}, true, true, ""},
		"story":              {flagged{story: &store.Story{TargetType: "community", TargetID: "c"}}, false, false, "c"},
		"story on a wall":    {flagged{story: &store.Story{TargetType: "user", TargetID: "w"}}, false, false, ""},
		"deleted story":      {flagged{story: &store.Story{DeletedAt: noon}}, true, true, ""},
		"message":            {flagged{message: &store.Message{ChannelID: "channel"}}, false, false, "channel"},
		"deleted message":    {flagged{message: &store.Message{DeletedAt: noon}}, true, true, ""},
		"user":               {flagged{user: &store.User{ID: "u"}}, false, false, ""},
		"deleted user":       {flagged{user: &store.User{DeletedAt: noon}}, true, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.deleted, test.target.isDeleted())
			require.Equal(t, test.removed, test.target.isRemoved())
			require.Equal(t, test.place, test.target.placeID())
		})
	}
}

func TestAddFlaggedKeepsEachRow(t *testing.T) {
	t.Parallel()
	all := map[string]flagged{}
	addFlagged(all, []store.User{{ID: "a"}, {ID: "b"}}, func(u *store.User) (string, flagged) { return u.ID, flagged{user: u} })
	require.Equal(t, "a", all["a"].user.ID)
	require.Equal(t, "b", all["b"].user.ID)
}
