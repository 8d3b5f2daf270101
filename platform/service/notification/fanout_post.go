package notification

import (
	"cmp"
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
)

// fanOutPost pushes a published post to a page of the members of its community, its approval to the author, and a post that awaits
// review to the moderators.
func (s *Service) fanOutPost(ctx context.Context, f fanOut) error {
	post, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Post, f.ID)
	if err != nil || post == nil || post.DeletedAt != nil || post.TargetType != levelCommunity || post.ParentID != "" {
		return err
	}
	a, err := s.postAlert(ctx, *post)
	if err != nil {
		return err
	}
	switch post.FeedType {
	case "reviewing":
		return s.pushReview(ctx, a)
	case "published":
		if f.Event == "post.approved" && f.After == "" {
			if err := s.pushApproval(ctx, a); err != nil {
				return err
			}
		}
		return s.fanOutPublished(ctx, f, a, mentioned(post.Mentionees))
	}
	return nil
}

// postAlert returns the alert of a post.
func (s *Service) postAlert(ctx context.Context, p content.Post) (alert, error) {
	a := alert{
		happened: p.ID, names: []string{"post.created"}, level: levelCommunity, targetID: p.TargetID, actorID: p.AuthorID,
		data: map[string]string{"targetType": p.TargetType, "targetId": p.TargetPublicID, "postId": p.ID},
	}
	err := s.complete(ctx, &a)
	a.inPlace(cmp.Or(textOf(p.Data), "posted"))
	return a, err
}

// fanOutPublished pushes a post to a page of the members of its community, without those whom it mentions: they have an item in
// their trays, which is pushed too.
func (s *Service) fanOutPublished(ctx context.Context, f fanOut, a alert, mentioned []string) error {
	var members []communities.Member
	reads := s.Store.NewReadBatch()
	reads.MembersAfter(a.targetID, f.After, membersPerPage, &members)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	page := service.Map(members, func(m communities.Member) string { return m.UserID })
	if err := s.pushToOthers(ctx, without(page, func(id string) bool { return slices.Contains(mentioned, id) }), a); err != nil {
		return err
	}
	return s.leaveNextPage(ctx, f, page)
}

// pushApproval pushes the approval of a post to its author.
func (s *Service) pushApproval(ctx context.Context, a alert) error {
	authorID := a.actorID
	a.happened, a.names, a.actorID, a.actorRoles = a.happened+"|approved", []string{"post.approved"}, "", nil
	a.title, a.body = cmp.Or(a.place, "Your post"), "Your post was approved"
	return s.pushTo(ctx, []string{authorID}, a)
}

// pushReview pushes a post that awaits review to up to maxModerators moderators.
func (s *Service) pushReview(ctx context.Context, a alert) error {
	a.names, a.happened = []string{"post.need-reviewing"}, a.happened+"|review"
	moderators, err := service.Read(ctx, s.Deps, (*store.ReadBatch).ListMembers, moderatorsOf(a.targetID))
	if err != nil {
		return err
	}
	return s.pushToOthers(ctx, service.Map(moderators, func(m communities.MemberRow) string { return m.UserID }), a)
}
