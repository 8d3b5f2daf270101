package idempotency

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// TestRecoveryIsComplete checks when the answer of a request that was carried out can be read.
func TestRecoveryIsComplete(t *testing.T) {
	t.Parallel()
	read := func(context.Context, proto.Message, []string) (proto.Message, error) { return nil, nil }
	ids := []string{"id"}
	require.True(t, Recovery{read, true}.complete(true, ids))
	require.True(t, Recovery{read, false}.complete(true, nil))
	require.False(t, Recovery{read, true}.complete(true, nil), "without the id that it needs")
	require.False(t, Recovery{read, true}.complete(false, ids), "nothing has changed")
	require.False(t, Recovery{read, false}.complete(false, ids), "nothing has changed")
	require.False(t, Recovery{}.complete(true, ids), "there is nothing to read")
}

// inCode are the operations whose recoveries package idempotency describes, because an option cannot.
var inCode = map[string]Recovery{
	plazav1connect.RoleServiceCreateRoleProcedure: {}, plazav1connect.InvitationServiceCreateInvitationsProcedure: {},
}

// newExecutor returns an executor for services that r implements.
func newExecutor(t *testing.T, r *reader) *Executor {
	t.Helper()
	e, err := New(nil, Options{Services: r.services(), Recoveries: inCode})
	require.NoError(t, err)
	return e
}

// TestEveryOperationIsRecovered checks that each operation with an Idempotency-Key has a valid option.
func TestEveryOperationIsRecovered(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, newExecutor(t, &reader{}).operations)
	_, err := New(nil, Options{Services: (&reader{}).services()})
	require.ErrorContains(t, err, "plaza.v1.RoleService.CreateRole: the option recovery is missing")
	require.ErrorContains(t, err, "plaza.v1.InvitationService.CreateInvitations: the option recovery is missing")
	_, err = New(nil, Options{Recoveries: inCode})
	require.ErrorContains(t, err, "plaza.v1.PollService.CreatePoll: recovery: no operation GetPoll")
}

// TestLastIDIsRecovered checks that an answer is read with the last id that an operation has chosen: conflicts rejected the others.
func TestLastIDIsRecovered(t *testing.T) {
	t.Parallel()
	r, ids := &reader{}, []string{"rejected", "stored"}
	read := newExecutor(t, r).operations[plazav1connect.PollServiceCreatePollProcedure].recovery
	_, err := read.Read(t.Context(), nil, ids)
	require.NoError(t, err)
	require.Len(t, r.read, 1)
	require.Equal(t, "stored", r.read[0].(*plazav1.GetPollRequest).GetPollId())
	require.True(t, read.complete(true, ids))
	require.False(t, read.complete(false, ids), "nothing was committed")
	require.False(t, read.complete(true, nil), "nothing was created")
}

// TestKnownAnswers checks the answers that contain nothing but the id of what was created, or nothing.
func TestKnownAnswers(t *testing.T) {
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": dbtest.New(t)}, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	ctx := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin, Home: region.EU})
	e, err := New(&service.Deps{Store: st, Region: region.EU}, Options{Services: (&reader{}).services(), Recoveries: inCode})
	require.NoError(t, err)
	for procedure, tc := range map[string]struct {
		needsIDs bool
		want     proto.Message
	}{
		plazav1connect.ReactionServiceAddReactionProcedure: {true, &plazav1.AddReactionResponse{AddedId: "stored"}},
		plazav1connect.ScheduledPostServiceSchedulePostProcedure: {
			true, &plazav1.SchedulePostResponse{Data: &plazav1.ScheduledPostId{Id: "stored"}},
		},
		plazav1connect.ChannelServiceDeleteChannelProcedure:       {false, service.StatusSuccess()},
		plazav1connect.JoinRequestServiceApproveJoinProcedure:     {false, service.Success()},
		plazav1connect.JoinRequestServiceRejectJoinProcedure:      {false, service.Success()},
		plazav1connect.InvitationServiceAcceptInvitationProcedure: {false, service.Success()},
		plazav1connect.InvitationServiceRejectInvitationProcedure: {false, service.Success()},
		plazav1connect.InvitationServiceResendInvitationProcedure: {false, service.Success()},
	} {
		recovery := e.operations[procedure].recovery
		require.Equal(t, tc.needsIDs, recovery.NeedsIDs, procedure)
		answer, err := recovery.Read(ctx, nil, []string{"rejected", "stored"})
		require.NoError(t, err)
		require.True(t, proto.Equal(tc.want, answer), "%s: %v", procedure, answer)
	}
}
