package visibility_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
)

// TestTargetsOfAHomeThatDoesNotAnswer loads a wall and a community with a server that cannot reach their home: whether the owner blocks the
// caller is not known, so only the owner and those who see everything read them.
func TestTargetsOfAHomeThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	owner, community := region.NewID(region.US), region.NewID(region.US)
	kinds := map[string]string{owner: "user", community: "community"}
	away := w.Without(t, region.US)
	for name, test := range map[string]struct {
		caller *auth.Caller
		want   fail.Code // for the wall
	}{
		"a user":           {servicetest.User(t, region.NewID(region.EU)), fail.CodeNotFound},
		"the owner":        {servicetest.User(t, owner), 0},
		"an administrator": {servicetest.Admin(), 0},
	} {
		ctx := auth.WithCaller(t.Context(), test.caller)
		found, err := visibility.LoadTargets(ctx, away, test.caller, kinds)
		require.NoError(t, err, name)
		require.Equal(t, test.want, codeOf(found[owner].RequireSee(test.caller)), name)
		onWall := []content.Post{{TargetType: "user", TargetID: owner, AuthorID: "third", FeedType: "published"}}
		require.Len(t, found.VisiblePosts(test.caller, onWall), map[bool]int{true: 1}[test.want == 0], name)
		require.Error(t, found[community].RequireSee(test.caller), name)

		found, err = visibility.LoadTargets(ctx, w.Deps, test.caller, kinds)
		require.NoError(t, err, name)
		require.NoError(t, found[owner].RequireSee(test.caller), "%s, of a home that answers", name)
	}
}
