package app

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/edge/transfer"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// reader implements the reads of recoveries. It records the ids.
type reader struct {
	plazav1connect.UnimplementedFileServiceHandler
	plazav1connect.UnimplementedRoleServiceHandler

	read []string
}

func (r *reader) GetFile(_ context.Context, q *plazav1.GetFileRequest) (*plazav1.File, error) {
	r.read = append(r.read, q.GetFileId())
	return &plazav1.File{FileId: q.GetFileId()}, nil
}

func (r *reader) GetRole(_ context.Context, q *plazav1.GetRoleRequest) (*plazav1.GetRoleResponse, error) {
	r.read = append(r.read, q.GetRoleId())
	return &plazav1.GetRoleResponse{Roles: []*plazav1.Role{{RoleId: q.GetRoleId()}}}, nil
}

func (r *reader) Invitations(_ context.Context, ids []string) (*plazav1.InvitationResponse, error) {
	r.read = append(r.read, ids...)
	return &plazav1.InvitationResponse{}, nil
}

// TestRecoveries checks what is read for the answer of a request that was carried out: the objects that it has created, or the one that it
// names.
func TestRecoveries(t *testing.T) {
	t.Parallel()
	roles, created := []*plazav1.Role{{RoleId: "x"}}, []string{"old", "new"}
	uploaded := &plazav1.UploadedFiles{Files: []*plazav1.File{{FileId: "old"}, {FileId: "new"}}}
	type row struct {
		needsIDs      bool
		request, want proto.Message
		read          []string
	}
	rows := map[string]row{
		plazav1connect.RoleServiceCreateRoleProcedure: {
			false, &plazav1.CreateRoleRequest{RoleId: "x"}, &plazav1.RoleResponse{Status: "success", Data: roles, Roles: roles}, []string{"x"},
		},
		plazav1connect.InvitationServiceCreateInvitationsProcedure: {true, nil, &plazav1.InvitationResponse{}, created},
	}
	for _, upload := range transfer.UploadProcedures() {
		rows[upload] = row{true, nil, uploaded, created}
	}
	r := &reader{}
	all := recoveries(r, r, r)
	require.Len(t, all, len(rows))
	for procedure, tc := range rows {
		r.read = nil
		require.Equal(t, tc.needsIDs, all[procedure].NeedsIDs, procedure)
		answer, err := all[procedure].Read(t.Context(), tc.request, created)
		require.NoError(t, err)
		require.True(t, proto.Equal(tc.want, answer), "%s: %v", procedure, answer)
		require.Equal(t, tc.read, r.read, procedure)
	}
}
