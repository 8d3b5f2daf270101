package comment

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListComments lists the comments on one post or story.
func (s *Service) ListComments(ctx context.Context, m *plazav1.ListCommentsRequest) (*plazav1.ListCommentsResponse, error) {
	cursor, err := page.Parse(m.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list := listOf(m, cursor)
	l := &loaded{Request: s.NewRequest(ctx)}
	var rows []store.Comment
	ref := visibility.ReadReference(l.Request, kindOf(m.GetReferenceType()), m.GetReferenceId())
	list.ViewerID = l.Caller.UserID
	l.ListComments(list, &rows)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if l.ref, err = ref.Resolve(l.Caller, s.Now()); err != nil {
		return nil, err
	}
	if l.ref.Target.Moderates(l.Caller) && m.GetApprovalStatus() != store.Approved {
		if rows, err = s.listEveryState(ctx, list); err != nil {
			return nil, err
		}
	}
	rows, paging := page.Window(cursor, rows, func(c store.Comment) (time.Time, string, string) { return list.Key(c), "", c.ID })
	a, err := s.View.Load(ctx, s.Store, l.Caller.UserID, l.known(rows...))
	if err != nil {
		return nil, err
	}
	return a.CommentList(paging), nil
}

// listEveryState reads a page of comments in every state, for moderators. It takes a second round trip because the
// first one tells whether the caller is a moderator.
func (s *Service) listEveryState(ctx context.Context, list store.CommentList) ([]store.Comment, error) {
	var rows []store.Comment
	list.EveryState = true
	reads := s.Store.NewReadBatch()
	reads.ListComments(list, &rows)
	err := reads.Run(ctx)
	return rows, err
}

func listOf(m *plazav1.ListCommentsRequest, cursor page.Cursor) store.CommentList {
	order := service.OrderOf(m.GetSortBy())
	list := store.CommentList{
		ReferenceID: m.GetReferenceId(),
		ParentID:    m.GetParentId(),
		EveryLevel:  m.GetParentId() == "" && m.FilterByParentId != nil && !m.GetFilterByParentId(),
		Flagged:     service.FlaggedOf(m.HasFlag),
		Deleted:     service.DeletedOf(m.IsDeleted),
		DataTypes:   m.GetDataTypes().GetValues(),
		Status:      m.GetApprovalStatus(),
		ExactTypes:  m.GetDataTypes().GetMatchType() == "exact",
		ByUpdate:    order.ByUpdate,
		Desc:        order.Desc != cursor.Back,
		Limit:       cursor.Limit + 1,
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	return list
}
