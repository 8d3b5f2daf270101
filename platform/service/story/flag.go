package story

import (
	"cmp"
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// errNeverFlagged refuses to take back a flag that is not there.
var errNeverFlagged = fail.Forbidden("You have not flagged this story")

// FlagStory flags a story as the caller. A second time changes nothing; one's own story cannot be flagged, and where as many
// others flag it as the network allows, or flagging is off, it is refused.
func (s *Service) FlagStory(ctx context.Context, req *connect.Request[plazav1.FlagStoryRequest]) (*connect.Response[plazav1.StoryResponse], error) {
	var settings store.Settings
	l, err := s.load(ctx, req.Msg.GetStoryId(), func(f *service.First) { f.Settings(s.Region, &settings) })
	if err != nil {
		return nil, err
	}
	if err := l.requireFlag(); err != nil {
		return nil, err
	}
	if !settings.IsReportEnabled {
		return nil, fail.NotAllowed()
	}
	flag := store.Flag{
		TargetType: store.FlagStory, TargetID: l.story().ID, UserID: l.First.Caller.UserID,
		Reason: cmp.Or(req.Msg.GetReason(), service.DefaultFlagReason), Detail: req.Msg.GetDetail(), CreatedAt: s.Now(),
	}
	return s.changeFlags(ctx, l, func(w *store.Write) {
		w.GuardFlagLimit(flag, settings.FlagLimit, fail.FlagLimit())
		w.AddFlag(flag)
	})
}

// requireFlag returns nil for users who may react to the story and did not make it.
func (l *loaded) requireFlag() error {
	if err := l.RequireUser(); err != nil {
		return err
	}
	if err := l.ref.Place.RequireReact(l.First.Caller); err != nil {
		return err
	}
	if l.story().AuthorID == l.First.Caller.UserID {
		return fail.NotAllowed()
	}
	return nil
}

// UnflagStory takes the caller's own flag back; without one it is refused, as public clients expect.
func (s *Service) UnflagStory(ctx context.Context, req *connect.Request[plazav1.UnflagStoryRequest]) (*connect.Response[plazav1.StoryResponse], error) {
	l, err := s.load(ctx, req.Msg.GetStoryId(), nil)
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	me := l.First.Caller.UserID
	return s.changeFlags(ctx, l, func(w *store.Write) {
		w.GuardFlag(l.story().ID, me, errNeverFlagged)
		w.RemoveFlag(l.story().ID, me)
	})
}

// ClearStoryFlags removes every flag of a story; for those who moderate stories, or manage those of its community.
func (s *Service) ClearStoryFlags(ctx context.Context, req *connect.Request[plazav1.ClearStoryFlagsRequest]) (*connect.Response[plazav1.StoryResponse], error) {
	l, err := s.load(ctx, req.Msg.GetStoryId(), nil)
	if err != nil {
		return nil, err
	}
	if !auth.Allowed(l.First.Caller, auth.ModerateStory, auth.Scope{}) {
		if err := auth.Require(l.First.Caller, auth.ManageCommunityStory, l.ref.Place.Scope("")); err != nil {
			return nil, err
		}
	}
	return s.changeFlags(ctx, l, func(w *store.Write) { w.ClearFlags(l.story().ID) })
}

// changeFlags runs a change of the story's flags, brings up to date what depends on them, and answers with the story.
func (s *Service) changeFlags(ctx context.Context, l *loaded, change func(*store.Write)) (*connect.Response[plazav1.StoryResponse], error) {
	var after *store.Story
	w := s.Store.Write(l.ref.Home())
	l.ref.Guard(w, l.now)
	change(w)
	w.BubbleStoryFlags(l.story().ID)
	w.StoryAfter(l.story().ID, &after)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*after))
}
