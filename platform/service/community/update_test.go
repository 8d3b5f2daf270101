package community

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestChangeOf(t *testing.T) {
	t.Parallel()
	name, no := "", false
	c := changeOf(&plazav1.UpdateCommunityRequest{DisplayName: &name, IsPublic: &no, Tags: []string{"a", "b", "a"}}, "editor")
	require.Equal(t, communities.CommunityChange{EditorID: "editor", DisplayName: &name, IsPublic: &no, Tags: []string{"a", "b"}}, c,
		"absent fields do not change")
}
