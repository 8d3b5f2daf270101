package bare

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// found is what was read for a request.
type found struct {
	caller     *callerRow
	community  *communityRow
	member     *memberRow // the caller's membership
	posts      []postRow
	comments   []commentRow
	users      []userRow
	members    []memberRow
	categories []categoryRow
	counts     []countRow
	reactions  []store.Reaction // the caller's
}

// read sends b and checks the caller and the community.
func (f *found) read(ctx context.Context, b *batch) error {
	if err := b.send(ctx); err != nil {
		return err
	}
	return f.check()
}

// check returns an error if the caller or the community does not exist or denies access.
func (f *found) check() error {
	switch {
	case f.caller == nil, bool(f.caller.IsDeleted), !f.caller.SessionLive:
		return statusError(http.StatusUnauthorized)
	case f.caller.IsGlobalBan:
		return statusError(http.StatusForbidden)
	case f.community == nil, bool(f.community.IsDeleted):
		return statusError(http.StatusNotFound)
	case !f.community.IsPublic && !f.member.isMember(), f.member.isBanned():
		return statusError(http.StatusForbidden)
	}
	if f.member != nil {
		f.members = []memberRow{*f.member}
	}
	return nil
}

func (s *Server) getPost(ctx context.Context, r *http.Request, c claims) (any, error) {
	id := r.PathValue("id")
	var f found
	b := s.newBatch()
	b.add("users.caller", c.Subject, c.SessionID).Query(db.Row(&f.caller))
	b.add("posts.byID", []string{id}).Query(db.Rows(&f.posts))
	b.add("communities.ofPost", id).Query(db.Row(&f.community))
	b.add("members.ofPost", id, c.Subject).Query(db.Row(&f.member))
	b.add("walls.ofPost", id, c.Subject) // not needed for posts of communities, but sent by the platform
	if err := f.read(ctx, b); err != nil {
		return nil, err
	}
	if len(f.posts) == 0 || bool(f.posts[0].IsDeleted) || f.posts[0].FeedType != "published" {
		return nil, statusError(http.StatusNotFound)
	}
	b = s.newBatch()
	b.add("categories.byID", f.community.CategoryIDs).Query(db.Rows(&f.categories))
	if err := f.readRelated(ctx, b); err != nil {
		return nil, err
	}
	return withFeed(s.build(&f)), nil
}

func (s *Server) listFeed(ctx context.Context, r *http.Request, c claims) (any, error) {
	id := r.PathValue("id")
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > 100 {
		return nil, statusError(http.StatusUnprocessableEntity)
	}
	after, _, afterID := page.Cursor{}.Start(true)
	var f found
	var listed []listedPost
	b := s.newBatch()
	b.add("users.caller", c.Subject, c.SessionID).Query(db.Row(&f.caller))
	b.add("communities.byID", []string{id}).Query(db.Row(&f.community))
	b.add("categories.ofCommunity", id).Query(db.Rows(&f.categories))
	b.add("members.byUser", id, []string{c.Subject}).Query(db.Row(&f.member))
	b.add("posts.listParentsCreatedDesc", id, "published", after, afterID, limit+1, "live", []string{}).Query(db.Rows(&listed))
	if err := f.read(ctx, b); err != nil {
		return nil, err
	}
	f.posts = posts(listed)
	var paging paging
	if len(f.posts) > limit {
		f.posts = f.posts[:limit]
		last := f.posts[limit-1]
		paging.Next = seal + page.Cursor{Limit: limit, Time: time.Time(last.CreatedAt), ID: last.PostID}.Token()
	}
	if err := f.readRelated(ctx, s.newBatch()); err != nil {
		return nil, err
	}
	return &feedAnswer{Status: "success", Data: feedData{related: s.build(&f), Paging: paging}, Paging: paging}, nil
}

// seal has the length of the seal of a page token.
var seal = strings.Repeat("0", page.SealLength)

// readRelated adds statements to b that read the resources to which the posts refer, and sends it.
func (f *found) readRelated(ctx context.Context, b *batch) error {
	var comments, authors []string
	refs := []string{f.community.CommunityID}
	for _, p := range f.posts {
		comments = append(comments, p.Comments.IDs()...)
		authors = append(append(authors, p.PostedUserInternalID), p.Comments.Authors()...)
		refs = append(append(refs, p.PostID), p.Comments.IDs()...)
	}
	me := f.caller.UserInternalID
	if slices.Contains(authors, me) {
		f.users = append(f.users, f.caller.userRow)
	}
	others := without(authors, me)
	withCreator := without(append(authors, f.community.UserInternalID), me)
	var users []userRow
	var members []memberRow
	b.add("users.byID", withCreator).Query(db.Rows(&users))
	b.add("members.byUser", f.community.CommunityID, others).Query(db.Rows(&members))
	b.add("comments.byID", comments).Query(db.Rows(&f.comments))
	b.add("counters.read", refs).Query(db.Rows(&f.counts))
	b.add("reactions.ofUser", refs, me).Query(db.Rows(&f.reactions))
	b.add("files.ofUsers", withCreator) // no user has a picture
	err := b.send(ctx)
	f.users, f.members = append(f.users, users...), append(f.members, members...)
	return err
}

// without returns the ids other than id, each once.
func without(ids []string, id string) []string {
	others := slices.DeleteFunc(slices.Clone(ids), func(other string) bool { return other == id })
	slices.Sort(others)
	return slices.Compact(others)
}
