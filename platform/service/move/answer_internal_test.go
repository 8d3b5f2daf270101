package move

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestMoveAnswer checks each field of the answer about a move.
func TestMoveAnswer(t *testing.T) {
	t.Parallel()
	requested, updated, finished := servicetest.Noon, servicetest.Noon.Add(time.Minute), servicetest.Noon.Add(time.Hour)
	m := lifecycle.UserMove{
		ID: "id", FromHome: region.EU, ToHome: region.SG, State: "state", Reason: "reason", Progress: lifecycle.Progress{Step: "posts"},
		Moved: []byte(`{"posts": 2}`), IDs: 3, RequestedAt: requested, UpdatedAt: updated, AllowInterruption: true,
	}
	want := &plazav1.UserMove{
		From: "eu", To: "sg", State: "state", Reason: "reason", Step: "posts", Moved: map[string]int32{"posts": 2}, AllowInterruption: true,
		RequestedAt: timestamppb.New(requested), UpdatedAt: timestamppb.New(updated),
	}
	require.Equal(t, want, message(m))
	m.FinishedAt, want.FinishedAt = &finished, timestamppb.New(finished)
	require.Equal(t, want, message(m))
}
