package posting

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// authorPage is a page of what a user has posted.
type authorPage struct {
	postPage
	cursor page.Cursor
	posts  store.AuthorPosts
	wall   bool // whether the page includes the posts on the user's wall
}

// ListAuthorPosts reads a page of the posts that the user q.TargetID has published in communities, and with wall also those
// on the user's wall. The homes of communities that do not answer are left out. Posts in communities that the caller may
// not read are not listed.
func ListAuthorPosts(ctx context.Context, d *service.Deps, q PostQuery, wall bool) (*view.Aggregate, *plazav1.Paging, error) {
	p, err := newAuthorPage(ctx, d, q, wall)
	if err != nil {
		return nil, nil, err
	}
	if err := p.Run(ctx); err != nil {
		return nil, nil, err
	}
	p.posts.Everything = auth.Allowed(p.Caller, auth.ViewPostAndComment, auth.Scope{})
	rows, paging, err := service.Merged[store.Post]{
		Cursor: p.cursor, Desc: p.list.Desc, Read: p.read,
		At: func(row store.Post) (time.Time, string, string) { return p.list.Key(row), "", row.ID },
	}.Page(ctx, d)
	if err != nil {
		return nil, nil, err
	}
	known, err := p.known(ctx, rows)
	if err != nil {
		return nil, nil, err
	}
	a, err := d.View.Load(ctx, d.Store, p.Caller.UserID, known)
	return a, paging, err
}

// newAuthorPage queues the reads of the user, of the caller's access to the user's wall and of the caller's communities.
func newAuthorPage(ctx context.Context, d *service.Deps, q PostQuery, wall bool) (*authorPage, error) {
	cursor, err := page.Parse(q.Page, page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	id, err := d.Directory.ResolveOne(ctx, q.TargetID)
	if err != nil {
		return nil, err
	}
	p := &authorPage{cursor: cursor, wall: wall, posts: store.AuthorPosts{AuthorID: id}}
	p.Request, p.list, p.list.TargetID = d.NewRequest(ctx), q.list(cursor), id
	p.Users([]string{id}, &p.owners)
	p.CommunitiesOfUser(p.Caller.UserID, &p.posts.Communities)
	visibility.ReadTarget(p.Request, "user", id, &p.target)
	p.Check(p.requireSee)
	return p, nil
}

// read queues the statements for a page and one more post from the position of a cursor.
func (p *authorPage) read(reads *store.ReadBatch, from page.Cursor, into *[]store.Post) {
	p.list.After, _, p.list.AfterID = from.Start(p.list.Desc)
	reads.ListPostsOfAuthor(p.posts, p.list, into)
	if !p.wall {
		return
	}
	var onWall []store.Post
	reads.ListPosts(p.list, &onWall)
	home := p.HomeOf(p.list.TargetID)
	reads.Finally(func() {
		if !slices.Contains(reads.Missing(), home) {
			*into = append(*into, onWall...)
		}
	})
}

// known returns the posts that the caller may still see, and their communities.
func (p *authorPage) known(ctx context.Context, rows []store.Post) (view.Rows, error) {
	k := view.Rows{Users: slices.Concat(p.UserRows(), p.owners)}
	var ids []string
	for i := range rows {
		if rows[i].TargetType == "community" {
			ids = append(ids, rows[i].TargetID)
		}
	}
	ids = service.SortedSet(ids)
	reads := p.Deps.Store.NewBestEffortBatch()
	reads.Communities(ids, &k.Communities)
	reads.Memberships(p.Caller.UserID, ids, &k.Members)
	if err := reads.Run(ctx); err != nil {
		return k, err
	}
	targets := visibility.NewTargets(k.Communities, k.Members)
	targets[p.list.TargetID] = p.target
	k.Posts = targets.PostsInSight(p.Caller, rows)
	k.Communities, k.Members = targets.Referenced(k.Posts)
	return k, nil
}
