package story

import (
	"context"
	"errors"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements StoryService.
type Service struct{ *service.Deps }

// New returns the service of stories.
func New(d *service.Deps) *Service { return &Service{d} }

// Target types of stories.
const (
	inCommunity = "community"
	onWall      = "user"
)

func (s *Service) respond(
	ctx context.Context, r *visibility.Request, story content.Story, counts core.Counts,
) (*plazav1.StoryResponse, error) {
	k := r.Known()
	k.Stories, k.Counts = []content.Story{story}, counts
	a, err := s.View.Load(ctx, s.Store, r.Caller.UserID, k)
	return view.Fill(a, &plazav1.StoryResponse{}), err
}

// GetStory returns one story.
func (s *Service) GetStory(ctx context.Context, req *plazav1.GetStoryRequest) (*plazav1.StoryResponse, error) {
	r := visibility.NewPastStoryRequest(ctx, s.Deps, req.GetStoryId())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, r, *r.Story, nil)
}

// DeleteStory deletes a story. The caller must be its author or manage stories there. A permanent deletion also
// removes the comments, reactions, flags and views.
func (s *Service) DeleteStory(ctx context.Context, req *plazav1.DeleteStoryRequest) (*plazav1.SuccessResponse, error) {
	r := visibility.NewPastStoryRequest(ctx, s.Deps, req.GetStoryId())
	r.CheckRight(auth.ManageCommunityStory, auth.ManageStory)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if r.Story.DeletedAt == nil || !req.GetPermanent() {
		tx := s.Store.NewTx(r.Home())
		tx.GuardStory(r.Story.ID, fail.NotFound())
		tx.DeleteStory(*r.Story, s.Now())
		if err := s.CommitChange(ctx, tx, "story.deleted", s.StoryChange(*r.Story)); err != nil {
			return nil, err
		}
	}
	if req.GetPermanent() {
		return service.Success(), s.purge(ctx, *r.Story)
	}
	return service.Success(), nil
}

// PurgeByID removes a story and everything that refers to it. It succeeds if the story was removed concurrently.
func (s *Service) PurgeByID(ctx context.Context, id string) error {
	rows, err := service.Read(ctx, s.Deps, (*store.ReadBatch).StoriesByID, []string{id})
	if err != nil || len(rows) == 0 {
		return err
	}
	return s.purge(ctx, rows[0])
}

// errGone reports that the story was removed concurrently.
var errGone = errors.New("the story does not exist any more")

// purge removes the rows of a story and everything that refers to it. It removes comments first, a few hundred at a
// time, to bound the size of each transaction. It succeeds if the story was removed concurrently.
func (s *Service) purge(ctx context.Context, story content.Story) error {
	for {
		ids, err := service.Read(ctx, s.Deps, (*store.ReadBatch).SomeCommentIDs, story.ID)
		if err != nil {
			return err
		}
		tx := s.Store.NewTx(s.HomeOf(story.ID))
		tx.GuardStoryRow(story.ID, errGone)
		if len(ids) == 0 {
			tx.PurgeStory(story, s.Now())
		} else {
			tx.DeleteCommentsOfStory(story.ID, ids)
		}
		switch err := tx.Commit(ctx); {
		case errors.Is(err, errGone):
			return nil
		case err != nil || len(ids) == 0:
			return err
		}
	}
}
