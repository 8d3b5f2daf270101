package post

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdatePost edits a post. The caller must be its author or a moderator of its community. The post stays in its feed.
func (s *Service) UpdatePost(ctx context.Context, req *plazav1.UpdatePostRequest) (*plazav1.PostResponse, error) {
	mentions, err := posting.ResolveMentions(ctx, s.Deps, req.GetMentionees())
	if err != nil {
		return nil, err
	}
	return service.RetryOnConflict(ctx, func() (*plazav1.PostResponse, error) { return s.edit(ctx, req, mentions) })
}

// edit is one attempt of UpdatePost. It returns service.ErrConflict if the post changed concurrently.
func (s *Service) edit(ctx context.Context, req *plazav1.UpdatePostRequest, mentions []view.Mention) (*plazav1.PostResponse, error) {
	l, e, err := s.loadEdit(ctx, req)
	if err != nil {
		return nil, err
	}
	home, now := service.HomeOf(l.post().ID), s.Now()
	parent, added, dropped := e.Rows(req, mentions, now, func() string { return s.NewID(home) })
	var after *store.Post
	tx := s.Store.NewTx(home)
	tx.GuardPostUnchanged(*l.post(), service.ErrConflict)
	tx.UpdatePost(parent, added, dropped, now, l.Caller.KeepsEditedAt)
	tx.SelectPost(parent.ID, &after)
	tx.SelectCommunity(l.ref.Target.Community)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*after))
}

// loadEdit reads the post and checks that the caller may make the edit.
func (s *Service) loadEdit(ctx context.Context, m *plazav1.UpdatePostRequest) (*loaded, *posting.Edit, error) {
	var settings store.Settings
	var children []store.Post
	var files *fileref.Check
	var rules *textrules.Rules
	l, err := s.load(ctx, m.GetPostId(), func(f *service.Request) {
		f.Settings(s.Region, &settings)
		f.ChildrenOf([]string{m.GetPostId()}, &children)
		files = fileref.Read(f.ReadBatch, fileref.OfAttachments(m.GetAttachments())...)
		rules = textrules.Read(s.Deps, f.ReadBatch, service.HomeOf(m.GetPostId()))
	})
	if err != nil {
		return nil, nil, err
	}
	if err := requireEdit(l, settings); err != nil {
		return nil, nil, err
	}
	e, err := posting.NewEdit(m, l.post(), children)
	if err != nil {
		return nil, nil, err
	}
	if err := files.Only(e.Files).Err(); err != nil {
		return nil, nil, err
	}
	return l, e, rules.Require(ctx, l.Caller, e.Text(m))
}

// requireEdit returns nil if the caller may edit the post. A post that is not published may be edited by moderators,
// and by its author if the network's settings allow that.
func requireEdit(l *loaded, settings store.Settings) error {
	if err := auth.Require(l.Caller, editRight(l.post()), l.ref.Target.Scope(l.post().AuthorID)); err != nil {
		return err
	}
	if l.post().FeedType != published && !settings.IsAllowEditPostWhenReviewingEnabled && !l.ref.Target.Moderates(l.Caller) {
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
