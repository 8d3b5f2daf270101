package story

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements StoryService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// target types of stories.
const (
	inCommunity = "community"
	onWall      = "user"
)

// loaded is one story as a request finds it.
type loaded struct {
	*service.First
	ref service.Reference
	now time.Time
}

func (l *loaded) story() *store.Story { return l.ref.Story }

// load reads a live story, its place and how the caller stands to that, beside what more adds. A story that ended, is
// deleted, or that the caller may not see, does not exist.
func (s *Service) load(ctx context.Context, id string, more func(*service.First)) (*loaded, error) {
	l, err := s.find(ctx, id, more)
	if err != nil {
		return nil, err
	}
	return l, l.ref.RequireSee(l.First.Caller, l.now)
}

// loadPast is load, and finds stories that ended or were deleted too, for those who may view stories everywhere.
func (s *Service) loadPast(ctx context.Context, id string) (*loaded, error) {
	l, err := s.find(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	if l.story() == nil || !auth.Allowed(l.First.Caller, auth.ViewStory, auth.Scope{}) {
		return l, l.ref.RequireSee(l.First.Caller, l.now)
	}
	asItWas := *l.story()
	asItWas.DeletedAt = nil
	ref := l.ref
	ref.Story = &asItWas
	err = ref.RequireSee(l.First.Caller, asItWas.CreatedAt)
	l.ref.Place = ref.Place
	return l, err
}

func (s *Service) find(ctx context.Context, id string, more func(*service.First)) (*loaded, error) {
	l := &loaded{First: s.Begin(ctx), now: s.Now()}
	l.Refer(store.ReferenceStory, id, &l.ref)
	if more != nil {
		more(l.First)
	}
	return l, l.Run(ctx)
}

// known is what the answer starts from.
func (l *loaded) known(story store.Story) view.Known {
	k := view.Known{Stories: []store.Story{story}, Users: l.UserRows()}
	if l.ref.Place.Community != nil {
		k.Communities = []store.Community{*l.ref.Place.Community}
	}
	if l.ref.Place.Member != nil {
		k.Members = []store.Member{*l.ref.Place.Member}
	}
	return k
}

func (s *Service) answer(ctx context.Context, callerID string, k view.Known) (*connect.Response[plazav1.StoryResponse], error) {
	a, err := s.View.Gather(ctx, s.Store, callerID, k)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.StoryAggregate()), nil
}

// GetStory gets one story.
func (s *Service) GetStory(ctx context.Context, req *connect.Request[plazav1.GetStoryRequest]) (*connect.Response[plazav1.StoryResponse], error) {
	l, err := s.loadPast(ctx, req.Msg.GetStoryId())
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*l.story()))
}

// DeleteStory deletes a story; for its author and for those who manage stories there. A permanent deletion leaves nothing of
// it: comments, reactions, flags and views go too.
func (s *Service) DeleteStory(ctx context.Context, req *connect.Request[plazav1.DeleteStoryRequest]) (*connect.Response[plazav1.SuccessResponse], error) {
	l, err := s.loadPast(ctx, req.Msg.GetStoryId())
	if err != nil {
		return nil, err
	}
	if err := l.requireDelete(); err != nil {
		return nil, err
	}
	if l.story().DeletedAt == nil || !req.Msg.GetPermanent() {
		w := s.Store.Write(l.ref.Home())
		w.GuardStory(l.story().ID, fail.NotFound())
		w.DeleteStory(*l.story(), s.Now())
		if err := w.Commit(ctx); err != nil {
			return nil, err
		}
	}
	if req.Msg.GetPermanent() {
		if err := s.purge(ctx, *l.story()); err != nil {
			return nil, err
		}
	}
	return connect.NewResponse(&plazav1.SuccessResponse{Success: true}), nil
}

func (l *loaded) requireDelete() error {
	right := auth.ManageCommunityStory
	if l.story().TargetType == onWall {
		right = auth.ManageStory
	}
	return auth.Require(l.First.Caller, right, l.ref.Place.Scope(l.story().AuthorID))
}

// errGone says that somebody else removed the story meanwhile.
var errGone = errors.New("nothing is left of the story")

// purge removes a story and all that hangs on it: comments first, some hundred at a time, so that no transaction grows with
// the size of a discussion. One that somebody else removed is removed.
func (s *Service) purge(ctx context.Context, story store.Story) error {
	for {
		var ids []string
		reads := s.Store.Reads()
		reads.SomeComments(story.ID, &ids)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		w := s.Store.Write(service.HomeOf(story.ID))
		w.GuardStoryRow(story.ID, errGone)
		if len(ids) == 0 {
			w.PurgeStory(story, s.Now())
		} else {
			w.WipeStoryComments(story.ID, ids)
		}
		err := w.Commit(ctx)
		switch {
		case errors.Is(err, errGone):
			return nil
		case err != nil || len(ids) == 0:
			return err
		}
	}
}
