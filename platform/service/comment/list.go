package comment

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListComments lists the comments on one post or story.
func (s *Service) ListComments(ctx context.Context, m *plazav1.ListCommentsRequest) (*plazav1.ListCommentsResponse, error) {
	var rows []content.Comment
	l := visibility.NewRequest(s.NewRequest(ctx), kindOf(m.GetReferenceType()), m.GetReferenceId())
	cursor := l.Page(m.GetOptions())
	list := listOf(m, cursor)
	list.ViewerID = l.Caller.UserID
	l.ListComments(list, &rows)
	stops := l.Stops
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	moderates := l.Target.Moderates(l.Caller)
	var err error
	if list.Flagged, err = service.FlaggedOf(m.HasFlag, moderates); err != nil {
		return nil, err
	}
	if list.EveryState = moderates && m.GetApprovalStatus() != content.Approved; list.EveryState || list.Flagged != core.FlaggedAny {
		// A second round trip, because the first one tells whether the caller is a moderator.
		reads := s.Store.NewReadBatch()
		reads.ListComments(list, &rows)
		stops = reads.Stops
		if err := reads.Run(ctx); err != nil {
			return nil, err
		}
	}
	at := func(c content.Comment) (time.Time, string, string) { return list.Key(c), "", c.ID }
	rows, paging := service.Page(cursor, rows, false, list.Desc, at, stops()...)
	known := (&request{Request: l.Request, Reference: l.Reference}).known(rows...)
	a, err := s.View.Load(ctx, s.Store, l.Caller.UserID, known)
	return view.Fill(a, &plazav1.ListCommentsResponse{Paging: paging}), err
}

func listOf(m *plazav1.ListCommentsRequest, cursor page.Cursor) content.CommentList {
	order := service.OrderOf(m.GetSortBy())
	list := content.CommentList{
		ReferenceID: m.GetReferenceId(),
		ParentID:    m.GetParentId(),
		EveryLevel:  m.GetParentId() == "" && m.FilterByParentId != nil && !m.GetFilterByParentId(),
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
