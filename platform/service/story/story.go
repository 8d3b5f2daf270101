package story

import (
	"context"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
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

// loaded is one story that the caller may see.
type loaded struct {
	*service.Request
	ref *visibility.Reference
	now time.Time
}

func (l *loaded) story() *store.Story { return l.ref.Story }

// load reads a live story that the caller may see, and whatever more adds to the same round trip. more may be nil.
func (s *Service) load(ctx context.Context, id string, more func(*service.Request)) (*loaded, error) {
	return s.loadWith(ctx, id, more, (*visibility.Pending).Resolve)
}

// loadPast is load, and also finds stories that ended or were deleted for callers who may view stories everywhere.
func (s *Service) loadPast(ctx context.Context, id string) (*loaded, error) {
	return s.loadWith(ctx, id, nil, (*visibility.Pending).ResolvePast)
}

type resolve func(*visibility.Pending, *auth.Caller, time.Time) (*visibility.Reference, error)

func (s *Service) loadWith(ctx context.Context, id string, more func(*service.Request), resolve resolve) (*loaded, error) {
	r := s.NewRequest(ctx)
	story := visibility.ReadStory(r, id)
	if more != nil {
		more(r)
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	now := s.Now()
	ref, err := resolve(story, r.Caller, now)
	return &loaded{Request: r, ref: ref, now: now}, err
}

// known returns the rows that were read, for the response.
func (l *loaded) known(story store.Story) view.Rows {
	k := l.ref.Target.Known(l.UserRows())
	k.Stories = []store.Story{story}
	return k
}

func (s *Service) respond(ctx context.Context, callerID string, k view.Rows) (*plazav1.StoryResponse, error) {
	a, err := s.View.Load(ctx, s.Store, callerID, k)
	if err != nil {
		return nil, err
	}
	return a.StoryAggregate(), nil
}

// GetStory returns one story.
func (s *Service) GetStory(ctx context.Context, req *plazav1.GetStoryRequest) (*plazav1.StoryResponse, error) {
	l, err := s.loadPast(ctx, req.GetStoryId())
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*l.story()))
}

// DeleteStory deletes a story. The caller must be its author or manage stories there. A permanent deletion also
// removes the comments, reactions, flags and views.
func (s *Service) DeleteStory(ctx context.Context, req *plazav1.DeleteStoryRequest) (*plazav1.SuccessResponse, error) {
	l, err := s.loadPast(ctx, req.GetStoryId())
	if err != nil {
		return nil, err
	}
	if err := l.requireDelete(); err != nil {
		return nil, err
	}
	if l.story().DeletedAt == nil || !req.GetPermanent() {
		tx := s.Store.NewTx(l.ref.Home())
		tx.GuardStory(l.story().ID, fail.NotFound())
		tx.DeleteStory(*l.story(), s.Now())
		if err := tx.Commit(ctx); err != nil {
			return nil, err
		}
	}
	if req.GetPermanent() {
		if err := s.purge(ctx, *l.story()); err != nil {
			return nil, err
		}
	}
	return service.Success(), nil
}

func (l *loaded) requireDelete() error {
	right := auth.ManageCommunityStory
	if l.story().TargetType == onWall {
		right = auth.ManageStory
	}
	return auth.Require(l.Caller, right, l.ref.Target.Scope(l.story().AuthorID))
}

// errGone reports that the story was removed concurrently.
var errGone = errors.New("the story does not exist any more")

// purge removes the rows of a story and everything that refers to it. It removes comments first, a few hundred at a
// time, to bound the size of each transaction. It succeeds if the story was removed concurrently.
func (s *Service) purge(ctx context.Context, story store.Story) error {
	for {
		var ids []string
		reads := s.Store.NewReadBatch()
		reads.SomeCommentIDs(story.ID, &ids)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		tx := s.Store.NewTx(service.HomeOf(story.ID))
		tx.GuardStoryRow(story.ID, errGone)
		if len(ids) == 0 {
			tx.PurgeStory(story, s.Now())
		} else {
			tx.DeleteCommentsOfStory(story.ID, ids)
		}
		err := tx.Commit(ctx)
		switch {
		case errors.Is(err, errGone):
			return nil
		case err != nil || len(ids) == 0:
			return err
		}
	}
}
