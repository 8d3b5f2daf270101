package reaction

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListReactions lists the reactions to a post, comment, story or message, newest first.
func (s *Service) ListReactions(ctx context.Context, m *plazav1.ListReactionsRequest) (*plazav1.ListReactionsResponse, error) {
	ref := reference{id: m.GetReferenceId(), kind: m.GetReferenceType()}
	l := s.newReferenceRequest(ctx, ref)
	cursor := l.Page(m.GetOptions())
	list := content.ReactionList{ReferenceID: m.GetReferenceId(), Name: m.GetReactionName(), Desc: !cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	var rows []content.Reaction
	l.ListReactions(list, &rows)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := page.Window(cursor, rows, func(r content.Reaction) (time.Time, string, string) { return r.CreatedAt, "", r.ID })
	users, err := s.ReadUsers(ctx, service.Map(rows, func(r content.Reaction) string { return r.UserID }))
	return &plazav1.ListReactionsResponse{
		Reactions: []*plazav1.ReactionRecord{record(ref, rows)}, Users: s.View.Users(ctx, users), Paging: paging,
	}, err
}

// ListWrappedReactions is ListReactions in the form of older clients.
func (s *Service) ListWrappedReactions(
	ctx context.Context, m *plazav1.ListReactionsRequest,
) (*plazav1.ListWrappedReactionsResponse, error) {
	listed, err := s.ListReactions(ctx, m)
	if err != nil {
		return nil, err
	}
	return &plazav1.ListWrappedReactionsResponse{
		Status: "success", Data: &plazav1.ReactionsData{Reactions: listed.GetReactions(), Users: listed.GetUsers()}, Paging: listed.GetPaging(),
	}, nil
}

func record(ref reference, rows []content.Reaction) *plazav1.ReactionRecord {
	out := &plazav1.ReactionRecord{ReferenceId: ref.id, ReferenceType: ref.kind}
	for _, r := range rows {
		at := timestamppb.New(r.CreatedAt)
		out.Reactors = append(out.Reactors, &plazav1.Reactor{
			ReactionId: r.ID, ReactionName: r.Name, UserId: r.UserPublicID, UserInternalId: r.UserID, CreatedAt: at, UpdatedAt: at,
		})
	}
	return out
}
