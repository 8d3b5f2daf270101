package app

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/edge/transfer"
	"github.com/plaza-social/plaza/platform/idempotency"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// invitations reads invitations that the caller has sent.
type invitations interface {
	Invitations(ctx context.Context, ids []string) (*plazav1.InvitationResponse, error)
}

// recoveries returns how the answers of requests that were carried out are read again, by procedure, of the operations whose option
// `recovery` cannot say it.
func recoveries(
	roles plazav1connect.RoleServiceHandler, files plazav1connect.FileServiceHandler, sent invitations,
) map[string]idempotency.Recovery {
	all := map[string]idempotency.Recovery{
		plazav1connect.InvitationServiceCreateInvitationsProcedure: {
			Read: func(ctx context.Context, _ proto.Message, ids []string) (proto.Message, error) {
				return sent.Invitations(ctx, ids)
			},
			NeedsIDs: true,
		},
		plazav1connect.RoleServiceCreateRoleProcedure: {
			Read: func(ctx context.Context, request proto.Message, _ []string) (proto.Message, error) {
				q, _ := request.(*plazav1.CreateRoleRequest)
				found, err := roles.GetRole(ctx, &plazav1.GetRoleRequest{RoleId: q.GetRoleId()})
				return &plazav1.RoleResponse{Status: "success", Data: found.GetRoles(), Roles: found.GetRoles()}, err
			},
		},
	}
	for _, upload := range transfer.UploadProcedures() {
		all[upload] = idempotency.Recovery{NeedsIDs: true, Read: func(ctx context.Context, _ proto.Message, ids []string) (proto.Message, error) {
			return uploadedFiles(ctx, files, ids)
		}}
	}
	return all
}

func uploadedFiles(ctx context.Context, files plazav1connect.FileServiceHandler, ids []string) (*plazav1.UploadedFiles, error) {
	uploaded := &plazav1.UploadedFiles{}
	for _, id := range ids {
		f, err := files.GetFile(ctx, &plazav1.GetFileRequest{FileId: id})
		if err != nil {
			return nil, err
		}
		uploaded.Files = append(uploaded.Files, f)
	}
	return uploaded, nil
}
