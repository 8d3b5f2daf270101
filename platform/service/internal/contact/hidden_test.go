package contact

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
)

// TestWithoutPosts removes each post alone, of a caller from whom more users are hidden than a request reads: what a page says about
// one post must not depend on the others.
func TestWithoutPosts(t *testing.T) {
	w := servicetest.NewWorld(t)
	reader, hidden, other := region.NewID(region.EU), region.NewID(region.US), region.NewID(region.SG)
	w.Exec(t,
		fmt.Sprintf(`INSERT INTO blocked_by (home, blocked_id, blocker_id, status, version, changed_at) VALUES ('eu', '%s', '%s', 'blocked', 1, now())`, reader, hidden))
	for name, tc := range map[string]struct {
		post  content.Post
		shown bool
	}{
		"of another user":                         {content.Post{AuthorID: other, TargetType: "community"}, true},
		"of another user, on the own wall":        {content.Post{AuthorID: other, TargetType: "user", TargetID: other}, true},
		"of the hidden user":                      {content.Post{AuthorID: hidden, TargetType: "community"}, false},
		"of the hidden user on the reader's wall": {content.Post{AuthorID: hidden, TargetType: "user", TargetID: reader}, false},
		"of another user on the hidden wall":      {content.Post{AuthorID: other, TargetType: "user", TargetID: hidden}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, known := range [][]string{{hidden}, make([]string, people.MaxHidden+1)} {
				h := &Hidden{deps: w.Deps, caller: servicetest.User(t, reader), ids: known, among: (*store.ReadBatch).HiddenAmong}
				posts, err := WithoutPosts(t.Context(), h, []content.Post{tc.post})
				require.NoError(t, err)
				require.Equal(t, tc.shown, len(posts) == 1, "%d known ids", len(known))
			}
		})
	}
}
