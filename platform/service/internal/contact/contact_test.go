package contact

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
)

func TestMayContact(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		caller *auth.Caller
		others []string
		user   string
		want   bool
	}{
		"no blocks":              {servicetest.User(t, "me"), nil, "v", true},
		"a block between both":   {servicetest.User(t, "me"), []string{"u", "v"}, "v", false},
		"a block with another":   {servicetest.User(t, "me"), []string{"u"}, "v", true},
		"oneself":                {servicetest.User(t, "me"), []string{"u"}, "me", true},
		"moderator of users":     {servicetest.User(t, "me", auth.RoleModerator), []string{"v"}, "v", true},
		"moderator of one place": {servicetest.User(t, "me", auth.RoleCommunityModerator), []string{"v"}, "v", false},
		"administrator":          {servicetest.Admin(), nil, "v", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &Blocks{test.caller, []string{"x", test.user}, test.others}
			require.Equal(t, test.want, b.MayContact(test.user))
			require.Equal(t, test.want, b.RequireFound() == nil)
			require.Equal(t, len(test.others) > 0, b.Any(), "whatever the roles of the caller are")
			h := &Hidden{caller: test.caller, ids: test.others}
			require.Equal(t, test.want, h.RequireAnswer(t.Context(), "x", test.user) == nil)
		})
	}
}
