package export

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestExportAnswer checks each field of the answer about an export, before and after its archive is ready.
func TestExportAnswer(t *testing.T) {
	t.Parallel()
	requested, updated, finished, due := servicetest.Noon, servicetest.Noon.Add(time.Minute), servicetest.Noon.Add(time.Hour),
		servicetest.Noon.Add(keptFor)
	e := lifecycle.Export{
		ID: "id", PublicID: "a/b", RequestedBy: "administrator", State: lifecycle.ExportCollecting,
		Progress: lifecycle.Progress{Step: "posts", DueAt: due},
		Exported: []byte(`{"posts": 2}`), Bytes: 70, RequestedAt: requested, UpdatedAt: updated, FinishedAt: &finished,
	}
	want := &plazav1.Export{
		UserId: "a/b", State: lifecycle.ExportCollecting, RequestedBy: "administrator", RequestedAt: timestamppb.New(requested),
		UpdatedAt: timestamppb.New(updated), Step: "posts", Exported: map[string]int32{"posts": 2},
	}
	require.Equal(t, want, message(e))
	e.State, want.State = lifecycle.ExportReady, lifecycle.ExportReady
	want.Step, want.Bytes, want.FinishedAt, want.ExpiresAt = "", 70, timestamppb.New(finished), timestamppb.New(due)
	want.ArchivePath = "/api/v4/users/a%2Fb/export/archive"
	require.Equal(t, want, message(e))
}
