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
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// authorPage is a page of what a user has posted.
type authorPage struct {
	postPage
	cursor page.Cursor
	posts  content.AuthorPosts
	wall   bool // whether the page includes the posts on the user's wall
}

// ListAuthorPosts reads a page of the posts that the user q.TargetID has published in communities, and with wall also those
// on the user's wall. The homes of communities that do not answer are left out. Posts in communities that the caller may
// not read are not listed.
func ListAuthorPosts(ctx context.Context, d *service.Deps, q PostQuery, wall bool) (*view.Aggregate, *plazav1.Paging, error) {
	p := newAuthorPage(ctx, d, q, wall)
	if err := p.Run(ctx); err != nil {
		return nil, nil, err
	}
	p.posts.Everything = auth.Allowed(p.Caller, auth.ViewPostAndComment, auth.Scope{})
	rows, paging, err := service.Merged[content.Post]{
		Cursor: p.cursor, Desc: p.list.Desc, Read: p.read,
		At: func(row content.Post) (time.Time, string, string) { return p.list.Key(row), "", row.ID },
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
func newAuthorPage(ctx context.Context, d *service.Deps, q PostQuery, wall bool) *authorPage {
	p := &authorPage{wall: wall}
	p.Request = d.NewRequest(ctx)
	id := p.Resolve(ctx, q.TargetID)
	p.cursor, p.posts.AuthorID = p.Page(q.Page), id
	p.list, p.list.TargetID = q.list(p.cursor), id
	p.Users([]string{id}, &p.owners)
	p.CommunitiesOfUser(p.Caller.UserID, &p.posts.Communities)
	visibility.ReadTarget(p.Request, "user", id, &p.target)
	p.Check(p.requireSee)
	return p
}

// read queues the statements for a page and one more post from the position of a cursor.
func (p *authorPage) read(reads *store.ReadBatch, from page.Cursor, into *[]content.Post) {
	p.list.After, _, p.list.AfterID = from.Start(p.list.Desc)
	reads.ListPostsOfAuthor(p.posts, p.list, into)
	if !p.wall {
		return
	}
	var onWall []content.Post
	reads.ListPosts(p.list, &onWall)
	home := p.HomeOf(p.list.TargetID)
	reads.Finally(func() {
		if !slices.Contains(reads.Missing(), home) {
			*into = append(*into, onWall...)
		}
	})
}

// known returns the posts that the caller may still see, and their communities.
func (p *authorPage) known(ctx context.Context, rows []content.Post) (view.Rows, error) {
	k := view.Rows{Users: slices.Concat(p.UserRows(), p.owners)}
	kinds := map[string]string{}
	for i := range rows {
		if rows[i].TargetType == "community" {
			kinds[rows[i].TargetID] = "community"
		}
	}
	targets, err := visibility.LoadTargets(ctx, p.Deps, p.Caller, kinds)
	if err != nil {
		return k, err
	}
	targets[p.list.TargetID] = p.target
	k.Posts = targets.PostsInSight(p.Caller, rows)
	k.Communities, k.Members = targets.Referenced(k.Posts)
	return k, nil
}
