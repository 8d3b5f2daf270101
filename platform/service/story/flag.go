package story

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errNotFlagged = fail.Forbidden("You have not flagged this story")

// FlagStory flags a story as the caller, who must not be its author.
func (s *Service) FlagStory(ctx context.Context, req *plazav1.FlagStoryRequest) (*plazav1.StoryResponse, error) {
	var policy flags.Policy
	l, err := s.load(ctx, req.GetStoryId(), policy.Read(s.Deps))
	if err != nil {
		return nil, err
	}
	if err := l.ref.Target.RequireReact(l.Caller); err != nil {
		return nil, err
	}
	if l.story().AuthorID == l.Caller.UserID {
		return nil, fail.NotAllowed()
	}
	change, err := policy.Flag(l.Request, store.FlagStory, l.story().ID, req, s.Now())
	if err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, change)
}

// UnflagStory removes the caller's own flag. Without one it is refused, as public clients expect.
func (s *Service) UnflagStory(ctx context.Context, req *plazav1.UnflagStoryRequest) (*plazav1.StoryResponse, error) {
	l, err := s.load(ctx, req.GetStoryId(), nil)
	if err != nil {
		return nil, err
	}
	remove, err := flags.Unflag(l.Request, l.story().ID)
	if err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, func(tx *store.Tx) {
		tx.GuardFlag(l.story().ID, l.Caller.UserID, errNotFlagged)
		remove(tx)
	})
}

// ClearStoryFlags removes every flag of a story. The caller must moderate stories, or manage those of the community.
func (s *Service) ClearStoryFlags(ctx context.Context, req *plazav1.ClearStoryFlagsRequest) (*plazav1.StoryResponse, error) {
	l, err := s.load(ctx, req.GetStoryId(), nil)
	if err != nil {
		return nil, err
	}
	if !auth.Allowed(l.Caller, auth.ModerateStory, auth.Scope{}) {
		if err := auth.Require(l.Caller, auth.ManageCommunityStory, l.ref.Target.Scope("")); err != nil {
			return nil, err
		}
	}
	return s.changeFlags(ctx, l, flags.Clear(l.story().ID))
}

// changeFlags commits a change of the story's flags with everything that depends on them, and returns the story as it is then.
func (s *Service) changeFlags(ctx context.Context, l *loaded, change flags.Change) (*plazav1.StoryResponse, error) {
	var after *store.Story
	tx := s.Store.NewTx(l.ref.Home())
	l.ref.Guard(tx, l.now)
	change(tx)
	tx.RecomputeStoryFlags(l.story().ID)
	tx.SelectStory(l.story().ID, &after)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*after))
}
