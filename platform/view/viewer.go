package view

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
)

// viewer decides what the caller may see of flags and of content that was not approved.
//
// The moderators of a place and administrators see the facts. To all other callers, authors included, an object looks
// as if only they could have flagged it: flagCount is 0 or 1, hashFlag contains at most their own id, and nothing is
// marked for containing something flagged. The feeds of posts that wait or were declined have a count of 0.
type viewer struct {
	caller *auth.Caller
	// members are the known memberships of the caller. Without one, the caller is treated as a non-member.
	members []communities.Member
}

// viewerOf returns the caller of the operation. Events that are sent to several users have none.
func viewerOf(ctx context.Context) *viewer { return &viewer{caller: auth.CallerFrom(ctx)} }

// scope returns the scope of permissions for what is on a target.
func (v *viewer) scope(targetType, targetID string) auth.Scope {
	if targetType != "community" {
		return auth.Scope{}
	}
	return auth.Scope{Membership: v.membership(targetID)}
}

func (v *viewer) membership(communityID string) *auth.Membership {
	m := find(v.members, func(m *communities.Member) bool { return m.CommunityID == communityID && m.UserID == v.caller.UserID })
	if m == nil {
		return nil
	}
	return &auth.Membership{Member: m.IsMember(), Banned: m.IsBanned(), Roles: m.Roles}
}

// reviews reports whether the caller moderates the posts and comments on a target.
func (v *viewer) reviews(targetType, targetID string) bool {
	return auth.Permits(v.caller, auth.ModeratePostAndComment, v.scope(targetType, targetID))
}

// restrictFlags reduces the flags of an object to that of the caller.
func (v *viewer) restrictFlags(flaggers *[]string, flagCount *int64) {
	if *flagCount == 0 && len(*flaggers) == 0 {
		return
	}
	if v.caller.UserID != "" && slices.Contains(*flaggers, v.caller.UserID) {
		*flaggers, *flagCount = []string{v.caller.UserID}, 1
		return
	}
	*flaggers, *flagCount = nil, 0
}

func (v *viewer) posts(rows []content.Post) []content.Post {
	return changed(rows, func(p *content.Post) {
		if !v.reviews(p.TargetType, p.TargetID) {
			v.restrictFlags(&p.Flaggers, &p.FlagCount)
			p.HasFlaggedChildren, p.HasFlaggedComment = false, false
		}
	})
}

func (v *viewer) comments(rows []content.Comment) []content.Comment {
	return changed(rows, func(c *content.Comment) {
		if !v.reviews(c.TargetType, c.TargetID) {
			v.restrictFlags(&c.Flaggers, &c.FlagCount)
		}
	})
}

func (v *viewer) stories(rows []content.Story) []content.Story {
	return changed(rows, func(s *content.Story) {
		if !auth.ModeratesStories(v.caller, v.scope(s.TargetType, s.TargetID)) {
			v.restrictFlags(&s.Flaggers, &s.FlagCount)
		}
		s.HasFlaggedComment = s.HasFlaggedComment && v.reviews(s.TargetType, s.TargetID)
	})
}

func (v *viewer) users(rows []people.User) []people.User {
	if auth.Permits(v.caller, auth.ModerateUser, auth.Scope{}) {
		return rows
	}
	return changed(rows, func(u *people.User) { v.restrictFlags(&u.Flaggers, &u.FlagCount) })
}

// messages restricts the messages of the channels that are not in moderated.
func (v *viewer) messages(rows []messaging.Message, moderated map[string]bool) []messaging.Message {
	everywhere := auth.Permits(v.caller, auth.DeleteMessage, auth.Scope{})
	return changed(rows, func(m *messaging.Message) {
		if !everywhere && !moderated[m.ChannelID] {
			v.restrictFlags(&m.Flaggers, &m.FlagCount)
		}
	})
}

// hideMessages returns messages that flags hide as deleted ones, except to their authors and to moderators.
func (v *viewer) hideMessages(rows []messaging.Message, moderated map[string]bool) []messaging.Message {
	everywhere := auth.Permits(v.caller, auth.DeleteMessage, auth.Scope{})
	return changed(rows, func(m *messaging.Message) {
		if m.DeletedAt == nil && m.HiddenFrom(v.caller.UserID, everywhere || moderated[m.ChannelID]) {
			m.DeletedAt = m.HiddenAt
		}
	})
}

// community restricts a community, and reports whether the caller may see the counts of all of its feeds.
func (v *viewer) community(c *communities.Community) bool {
	reviews := v.reviews("community", c.ID)
	c.HasFlaggedPost, c.HasFlaggedComment = c.HasFlaggedPost && reviews, c.HasFlaggedComment && reviews
	return reviews
}

// readMemberships reads the caller's memberships of communities that are not known.
func (v *viewer) readMemberships(batch *store.ReadBatch, known []communities.Member, wanted *idSet) {
	v.members = slices.Clone(known)
	for _, m := range known {
		if m.UserID == v.caller.UserID {
			wanted.exclude(m.CommunityID)
		}
	}
	if v.caller.UserID != "" {
		var read []communities.Member
		batch.Memberships(v.caller.UserID, wanted.list(), &read)
		batch.Then(func() { v.members = slices.Concat(known, read) })
	}
}

// moderatedPlaces returns the communities for which the response depends on whether the caller moderates them.
func (r *Rows) moderatedPlaces() *idSet {
	places := newIDSet()
	add := func(depends bool, targetType, targetID string) {
		if depends && targetType == "community" {
			places.add(targetID)
		}
	}
	for _, p := range r.Posts {
		add(p.FlagCount > 0 || p.HasFlaggedChildren || p.HasFlaggedComment || p.FeedType != published, p.TargetType, p.TargetID)
	}
	for _, s := range r.Stories {
		add(s.FlagCount > 0 || s.HasFlaggedComment, s.TargetType, s.TargetID)
	}
	for _, c := range r.Comments {
		add(true, c.TargetType, c.TargetID) // replies are not known yet
	}
	for _, c := range r.Communities {
		add(c.HasFlaggedPost || c.HasFlaggedComment, "community", c.ID)
	}
	return places
}
