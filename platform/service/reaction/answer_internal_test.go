package reaction

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestReactionAnswer checks each field of the answer about the reactions to an object.
func TestReactionAnswer(t *testing.T) {
	t.Parallel()
	first, second := servicetest.Noon, servicetest.Noon.Add(time.Minute)
	got := record(reference{id: "post id", kind: "post"}, []content.Reaction{
		{ReferenceType: "post", ReferenceID: "post id", UserID: "internal", UserPublicID: "public", Name: "like", ID: "id", CreatedAt: first},
		{
			ReferenceType: "post", ReferenceID: "post id", UserID: "internal 2", UserPublicID: "public 2", Name: "love", ID: "id 2",
			CreatedAt: second,
		},
	})
	require.Equal(t, &plazav1.ReactionRecord{ReferenceId: "post id", ReferenceType: "post", Reactors: []*plazav1.Reactor{
		{
			ReactionId: "id", ReactionName: "like", UserId: "public", UserInternalId: "internal", CreatedAt: timestamppb.New(first),
			UpdatedAt: timestamppb.New(first),
		},
		{
			ReactionId: "id 2", ReactionName: "love", UserId: "public 2", UserInternalId: "internal 2", CreatedAt: timestamppb.New(second),
			UpdatedAt: timestamppb.New(second),
		},
	}}, got)
}
