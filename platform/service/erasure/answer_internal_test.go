package erasure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestErasureAnswer checks each field of the answer about an erasure.
func TestErasureAnswer(t *testing.T) {
	t.Parallel()
	requested, updated, finished := servicetest.Noon, servicetest.Noon.Add(time.Minute), servicetest.Noon.Add(time.Hour)
	e := lifecycle.Erasure{
		ID: "id", PublicID: "public", RequestedBy: "administrator", State: lifecycle.ErasureRunning, Progress: lifecycle.Progress{Step: "posts"},
		Erased: []byte(`{"posts": 2}`), RequestedAt: requested, UpdatedAt: updated,
	}
	want := &plazav1.Erasure{
		ErasureId: "id", State: lifecycle.ErasureRunning, RequestedBy: "administrator", RequestedAt: timestamppb.New(requested),
		UpdatedAt: timestamppb.New(updated), Step: "posts", Erased: map[string]int32{"posts": 2},
	}
	require.Equal(t, want, message(e))
	e.FinishedAt, want.FinishedAt = &finished, timestamppb.New(finished)
	require.Equal(t, want, message(e))
}
