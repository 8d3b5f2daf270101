package story

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errNotFlagged = fail.Forbidden("You have not flagged this story")

// FlagStory flags a story as the caller, who must not be its author.
func (s *Service) FlagStory(ctx context.Context, req *plazav1.FlagStoryRequest) (*plazav1.StoryResponse, error) {
	r := visibility.NewStoryRequest(ctx, s.Deps, req.GetStoryId())
	r.Check(r.RequireReact)
	r.CheckThat(func() bool { return r.Story.AuthorID != r.Caller.UserID }, fail.NotAllowed())
	return s.changeFlags(ctx, r, flags.Add(r.Request, content.FlagStory, req))
}

// UnflagStory removes the caller's own flag. Without one it is refused, as public clients expect.
func (s *Service) UnflagStory(ctx context.Context, req *plazav1.UnflagStoryRequest) (*plazav1.StoryResponse, error) {
	r := visibility.NewStoryRequest(ctx, s.Deps, req.GetStoryId())
	return s.changeFlags(ctx, r, flags.RemoveExisting(r.Request, errNotFlagged))
}

// ClearStoryFlags removes every flag of a story. The caller must moderate stories, or manage those of the community.
func (s *Service) ClearStoryFlags(ctx context.Context, req *plazav1.ClearStoryFlagsRequest) (*plazav1.StoryResponse, error) {
	r := visibility.NewStoryRequest(ctx, s.Deps, req.GetStoryId())
	r.Check(func() error {
		if auth.Allowed(r.Caller, auth.ModerateStory, auth.Scope{}) {
			return nil
		}
		return auth.Require(r.Caller, auth.ManageCommunityStory, r.Target.Scope(""))
	})
	return s.changeFlags(ctx, r, flags.Clear(r.Request))
}

// changeFlags runs a request, commits a change of the story's flags with everything that depends on them, and returns
// the story as it is then.
func (s *Service) changeFlags(ctx context.Context, r *visibility.Request, change flags.Change) (*plazav1.StoryResponse, error) {
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	var after *content.Story
	tx := s.Store.NewTx(r.Home())
	r.Guard(tx, s.Now())
	change.Apply(tx, flags.OfStory(*r.Story), s.Now())
	tx.SelectStory(r.Story.ID, &after)
	if err := s.CommitChange(ctx, tx, change.Event("story", "flagsCleared"), s.StoryChange(*r.Story)); err != nil {
		return nil, err
	}
	return s.respond(ctx, r, *after, nil)
}
