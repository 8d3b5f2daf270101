package post

import (
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdatePost edits a post; for its author and for moderators of its community. It stays in the feed it stands in.
func (s *Service) UpdatePost(ctx context.Context, req *connect.Request[plazav1.UpdatePostRequest]) (*connect.Response[plazav1.PostResponse], error) {
	mentions, err := s.Mentions(ctx, req.Msg.GetMentionees())
	if err != nil {
		return nil, err
	}
	return service.Edit(ctx, func() (*connect.Response[plazav1.PostResponse], error) { return s.edit(ctx, req, mentions) })
}

// edit is UpdatePost unless somebody else changes the post between: then it is service.ErrEdited.
func (s *Service) edit(ctx context.Context, req *connect.Request[plazav1.UpdatePostRequest], mentions []view.Mention) (*connect.Response[plazav1.PostResponse], error) {
	l, e, err := s.loadEdit(ctx, req.Msg)
	if err != nil {
		return nil, err
	}
	home, now := service.HomeOf(l.post.ID), s.Now()
	parent, added, dropped := e.Rows(req.Msg, mentions, now, func() string { return s.NewID(home) })
	var after *store.Post
	w := s.Store.Write(home)
	w.GuardPostUnchanged(*l.post, service.ErrEdited)
	w.EditPost(parent, added, dropped, now, service.KeepsEditedAt(l.First.Caller, req.Header()))
	w.PostAfter(parent.ID, &after)
	w.CommunityAfter(l.place.Community)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*after))
}

// loadEdit reads the post and decides whether the caller may change it like this.
func (s *Service) loadEdit(ctx context.Context, m *plazav1.UpdatePostRequest) (*loaded, *service.PostEdit, error) {
	var settings store.Settings
	var children []store.Post
	var files *service.FileCheck
	var rules *service.TextRules
	l, err := s.load(ctx, m.GetPostId(), func(f *service.First) {
		f.Settings(s.Region, &settings)
		f.ChildrenOf([]string{m.GetPostId()}, &children)
		files = service.ReadFiles(f.Reads, service.AttachmentRefs(m.GetAttachments())...)
		rules = s.ReadTextRules(f.Reads, service.HomeOf(m.GetPostId()))
	})
	if err != nil {
		return nil, nil, err
	}
	if err := requireEdit(l, settings); err != nil {
		return nil, nil, err
	}
	e, err := service.NewPostEdit(m, l.post, children)
	if err != nil {
		return nil, nil, err
	}
	if err := files.Only(e.Files).Err(); err != nil {
		return nil, nil, err
	}
	return l, e, rules.Require(ctx, l.First.Caller, e.Written(m))
}

// requireEdit refuses those who may not edit the post. One that is not published is for moderators, and for its author where the
// setting says so.
func requireEdit(l *loaded, settings store.Settings) error {
	if err := auth.Require(l.First.Caller, editRight(l.post), l.place.Scope(l.post.AuthorID)); err != nil {
		return err
	}
	if l.post.FeedType != published && !settings.IsAllowEditPostWhenReviewingEnabled && !l.place.Moderates(l.First.Caller) {
		return fail.NotAllowed()
	}
	return nil
}

func editRight(p *store.Post) auth.Permission {
	if p.TargetType != onCommunity {
		return auth.EditUserFeedPost
	}
	return auth.EditCommunityPost
}
