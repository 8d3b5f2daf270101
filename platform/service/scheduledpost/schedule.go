// Package scheduledpost implements posts that are published at a later time.
//
// A scheduled post is in the state WAIT until it is published ("posted"). If, at its time, its author may not post
// there any more or its target does not exist, it is "failed"; changing it makes it wait again. It is stored at the
// home of its target, and the ids of its posts are fixed when it is created.
package scheduledpost

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements ScheduledPostService.
type Service struct {
	*service.Deps

	polls jobs.Positions
}

// New returns the service of scheduled posts.
func New(d *service.Deps) *Service { return &Service{Deps: d} }

// maxAhead is how far in the future a post can be scheduled.
const maxAhead = 30 * 24 * time.Hour

const waits = "Waits for its time"

// errPosted refuses changes of a post that was published or changed concurrently.
var errPosted = fail.New(fail.CodeBadRequest, "The scheduled post was already published, or was changed at the same time")

// SchedulePost schedules a post. It must be one that the caller could publish now.
func (s *Service) SchedulePost(ctx context.Context, req *plazav1.SchedulePostRequest) (*plazav1.SchedulePostResponse, error) {
	at, err := s.timeOf(req.GetScheduledAt())
	if err != nil {
		return nil, err
	}
	d, err := posting.NewDraft(req.GetPostData())
	if err != nil {
		return nil, err
	}
	if d.TargetType == visibility.OnContent {
		return nil, fail.Validation("postData.targetType: must be user or community")
	}
	t, err := posting.LoadTarget(ctx, s.Deps, d)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	row := content.ScheduledPost{
		ID: s.NewID(d.Home), AuthorID: t.AuthorID, AuthorPublicID: t.AuthorPublicID, TargetType: d.TargetType, TargetID: d.TargetID,
		TargetPublicID: t.TargetPublicID, ScheduledAt: at, Status: content.ScheduleWaiting, Description: waits, CreatedAt: now, UpdatedAt: now,
	}
	if err := s.fill(&row, d, ""); err != nil {
		return nil, err
	}
	auth.Created(ctx, "scheduledPost", row.ID)
	tx := s.Store.NewTx(d.Home)
	tx.GuardTarget(d.TargetType, d.TargetID, fail.NotFound())
	tx.InsertScheduledPost(row)
	return &plazav1.SchedulePostResponse{Data: &plazav1.ScheduledPostId{Id: row.ID}}, tx.Commit(ctx)
}

// timeOf returns the time of a request after validation.
func (s *Service) timeOf(stamp *timestamppb.Timestamp) (time.Time, error) {
	at, now := stamp.AsTime().Truncate(time.Millisecond), s.Now()
	switch {
	case stamp.CheckValid() != nil:
		return at, fail.Validation("scheduledAt: must be a date-time")
	case at.Before(now):
		return at, fail.Validation("scheduledAt: must not be in the past")
	case at.After(now.Add(maxAhead)):
		return at, fail.Validation(fmt.Sprintf("scheduledAt: must be at most %d days ahead", int(maxAhead.Hours()/24)))
	}
	return at, nil
}

// fill sets the content of a row from a draft, with an id for each post. It keeps parentID if that is set.
func (s *Service) fill(row *content.ScheduledPost, d *posting.Draft, parentID string) error {
	m, _ := proto.Clone(d.CreatePostRequest).(*plazav1.CreatePostRequest)
	m.Data, m.Attachments, m.Text = freeform.Message(d.Data), d.Attachments, "" // which include the older forms of a request
	raw, err := freeform.MarshalJSON(m)
	if err != nil {
		return fail.Unexpected(err)
	}
	row.Draft, row.Mentions, row.PostIDs = raw, view.MentionsJSON(d.Mentions), nil
	posting := posting.PostContext{}
	posting.Rows(d, row.ScheduledAt, func() string {
		id := s.NewID(d.Home)
		if len(row.PostIDs) == 0 && parentID != "" {
			id = parentID
		}
		row.PostIDs = append(row.PostIDs, id)
		return id
	})
	return nil
}

// draftOf returns the draft of a row.
func (s *Service) draftOf(row content.ScheduledPost) (*posting.Draft, error) {
	m := &plazav1.CreatePostRequest{}
	if err := freeform.UnmarshalJSON(row.Draft, m); err != nil {
		return nil, fail.Unexpected(err)
	}
	d, err := posting.NewDraft(m)
	if err != nil {
		return nil, err
	}
	d.TargetType, d.TargetID, d.Home = row.TargetType, row.TargetID, s.HomeOf(row.TargetID)
	d.Mentions = view.Mentions(row.Mentions)
	return d, nil
}

// rowsOf returns the posts of a row and its draft, with their fixed ids.
func rowsOf(row content.ScheduledPost, d *posting.Draft, posting *posting.PostContext, now time.Time) []content.Post {
	next := 0
	return posting.Rows(d, now, func() string { next++; return row.PostIDs[next-1] })
}
