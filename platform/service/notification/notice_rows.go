package notification

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
)

// maxModerators is the maximum number of moderators of a community who are told about a join request.
const maxModerators = 100

// rows are what some notices refer to. They are read together, in two round trips.
type rows struct {
	posts        map[string]*content.Post
	comments     map[string]*content.Comment
	stories      map[string]*content.Story
	follows      map[[2]string]**people.Follow // by follower and followed user
	joinRequests map[[2]string]*joinRequestRows
	invitations  map[string]**communities.Invitation
}

// joinRequestRows are a pending join request, nil if there is none, and the moderators of its community.
type joinRequestRows struct {
	pending    *communities.JoinRequest
	moderators []communities.MemberRow
}

// readRows reads what notices refer to.
func (s *Service) readRows(ctx context.Context, notices []service.Notice) (*rows, error) {
	r := &rows{
		posts: map[string]*content.Post{}, comments: map[string]*content.Comment{}, stories: map[string]*content.Story{},
		follows: map[[2]string]**people.Follow{}, joinRequests: map[[2]string]*joinRequestRows{},
		invitations: map[string]**communities.Invitation{},
	}
	var objects objectIDs
	reads := s.Store.NewReadBatch()
	for _, n := range notices {
		switch n.Event {
		case "post.created", "post.approved", "post.addReaction":
			objects.posts = append(objects.posts, n.ID)
		case "comment.created", "comment.addReaction":
			objects.comments = append(objects.comments, n.ID)
		case "follow.created", "follow.requested", "follow.accepted":
			reads.Follow(n.ID, n.OtherID, r.follow(n.ID, n.OtherID))
		case service.NoticeJoinRequested:
			r.joinRequest(n).read(reads, n)
		case service.NoticeInvited:
			reads.Invitation(n.ID, r.invitation(n.ID))
		}
	}
	if err := r.readObjects(ctx, reads, objects); err != nil {
		return nil, err
	}
	return r, r.readObjects(ctx, s.Store.NewReadBatch(), r.referenced())
}

// objectIDs are ids of objects to read.
type objectIDs struct{ posts, comments, stories []string }

// readObjects runs reads together with those of some objects.
func (r *rows) readObjects(ctx context.Context, reads *store.ReadBatch, ids objectIDs) error {
	var posts []content.Post
	var comments []content.Comment
	var stories []content.Story
	reads.PostsAlone(service.SortedSet(ids.posts), &posts)
	reads.CommentsByID(service.SortedSet(ids.comments), &comments)
	reads.StoriesByID(service.SortedSet(ids.stories), &stories)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	addByID(r.posts, posts, func(p content.Post) string { return p.ID })
	addByID(r.comments, comments, func(c content.Comment) string { return c.ID })
	addByID(r.stories, stories, func(s content.Story) string { return s.ID })
	return nil
}

func addByID[T any](byID map[string]*T, rows []T, id func(T) string) {
	for i := range rows {
		byID[id(rows[i])] = &rows[i]
	}
}

// referenced returns the ids of what the comments are on and reply to.
func (r *rows) referenced() objectIDs {
	var ids objectIDs
	for _, c := range r.comments {
		switch {
		case c.ReferenceType == content.ReferenceStory:
			ids.stories = append(ids.stories, c.ReferenceID)
		case r.posts[c.ReferenceID] == nil:
			ids.posts = append(ids.posts, c.ReferenceID)
		}
		if c.ParentID != "" && r.comments[c.ParentID] == nil {
			ids.comments = append(ids.comments, c.ParentID)
		}
	}
	return ids
}

// follow returns where a follow is, nil until it is read.
func (r *rows) follow(followerID, followeeID string) **people.Follow {
	return entry(r.follows, [2]string{followerID, followeeID})
}

func (r *rows) invitation(id string) **communities.Invitation { return entry(r.invitations, id) }

func (r *rows) joinRequest(n service.Notice) *joinRequestRows {
	return entry(r.joinRequests, [2]string{n.ID, n.OtherID})
}

// entry returns the value of a key, a new one if there is none.
func entry[K comparable, V any](m map[K]*V, key K) *V {
	if m[key] == nil {
		m[key] = new(V)
	}
	return m[key]
}

func (j *joinRequestRows) read(reads *store.ReadBatch, n service.Notice) {
	reads.PendingJoinRequest(n.ID, n.OtherID, &j.pending)
	reads.ListMembers(moderatorsOf(n.ID), &j.moderators)
}

// moderatorsOf returns the query for the first moderators of a community.
func moderatorsOf(communityID string) communities.MemberList {
	roles := []string{auth.RoleCommunityModerator}
	list := communities.MemberList{CommunityID: communityID, State: communities.StateMember, Roles: roles, Limit: maxModerators}
	list.AfterTime, list.AfterKey, list.AfterID = page.Cursor{}.Start(false)
	return list
}
