package service

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// PostQuery asks for a page of one community's or wall's posts, as the list operations of posts and feeds do.
type PostQuery struct {
	TargetType  string // user, or community for anything else; ContentPage is for content
	TargetID    string // the community, the wall owner's public id, or the client's id of the content
	FeedType    string // published when empty
	SortBy      string
	DataTypes   []string
	ParentsOnly bool // with data types: match by what parents hold
	EveryPost   bool // without data types: children beside parents
	Tags        []string
	Flagged     store.Flagged
	Deleted     store.Deleted
	Page        *plazav1.PageOptions
}

// postPage is a page under way.
type postPage struct {
	*First
	cursor     page.Cursor
	list       store.PostList
	place      Place
	owners     []store.User
	categories []store.Category
	rows       []store.Post
}

// PostPage reads a page of posts and what it refers to, in two round trips.
func (d *Deps) PostPage(ctx context.Context, q PostQuery) (*view.Aggregate, *plazav1.Paging, error) {
	p, err := d.firstPage(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if err := p.Run(ctx); err != nil {
		return nil, nil, err
	}
	if err := p.requireSee(); err != nil {
		return nil, nil, err
	}
	rows, paging := page.Window(p.cursor, p.rows, func(row store.Post) (time.Time, string, string) { return p.list.Key(row), "", row.ID })
	a, err := d.View.Load(ctx, d.Store, p.Caller.UserID, p.known(rows))
	return a, paging, err
}

// ContentPage reads a page of the posts on one content, from all homes; one that is away is left out. Nobody moderates them, so
// that all there are were published.
func (d *Deps) ContentPage(ctx context.Context, q PostQuery) (*view.Aggregate, *plazav1.Paging, error) {
	cursor, err := page.Parse(q.Page, page.DefaultLimit)
	if err != nil {
		return nil, nil, err
	}
	f := d.Begin(ctx)
	if err := f.Run(ctx); err != nil {
		return nil, nil, err
	}
	list := q.list(cursor)
	var rows []store.Post
	reads := d.Store.Related()
	reads.ListPostsOnContent(q.TargetID, list, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	rows, paging := Page(cursor, rows, false, list.Desc, func(row store.Post) (time.Time, string, string) { return list.Key(row), "", row.ID })
	a, err := d.View.Load(ctx, d.Store, f.Caller.UserID, view.Rows{Posts: rows, Users: f.UserRows()})
	return a, paging, err
}

// firstPage gathers the first round trip: the caller, where the posts stand, and the posts.
func (d *Deps) firstPage(ctx context.Context, q PostQuery) (*postPage, error) {
	cursor, err := page.Parse(q.Page, page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	p := &postPage{cursor: cursor, list: q.list(cursor)}
	if q.TargetType == "user" {
		if p.list.TargetID, err = d.Directory.ResolveOne(ctx, q.TargetID); err != nil {
			return nil, err
		}
	}
	p.First = d.Begin(ctx)
	if !region.ValidID(p.list.TargetID) {
		return p, nil // nobody and nothing: the caller is confirmed first, and hears of it then
	}
	if q.TargetType == "user" {
		p.place.WallOwnerID = p.list.TargetID
		p.Users([]string{p.list.TargetID}, &p.owners)
		if p.Caller.UserID != "" {
			p.Wall(p.list.TargetID, p.Caller.UserID, &p.place.Wall)
		}
	} else {
		p.Community(p.list.TargetID, &p.place.Community)
		p.CategoriesOfCommunity(p.list.TargetID, &p.categories)
		if p.Caller.UserID != "" {
			p.Member(p.list.TargetID, p.Caller.UserID, &p.place.Member)
		}
	}
	p.ListPosts(p.list, &p.rows)
	return p, nil
}

func (q PostQuery) list(cursor page.Cursor) store.PostList {
	order := OrderOf(q.SortBy)
	list := store.PostList{
		TargetID: q.TargetID, FeedType: q.FeedType, DataTypes: q.DataTypes, ParentsOnly: q.ParentsOnly, EveryPost: q.EveryPost, Tags: q.Tags,
		Flagged: q.Flagged, Deleted: q.Deleted, ByUpdate: order.ByUpdate, Desc: order.Desc != cursor.Back, Limit: cursor.Limit + 1,
	}
	if list.FeedType == "" {
		list.FeedType = "published"
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	return list
}

// requireSee refuses posts of a place that the caller may not read; those that wait for a moderator are for moderators.
func (p *postPage) requireSee() error {
	if p.place.WallOwnerID != "" && (len(p.owners) == 0 || p.owners[0].DeletedAt != nil) {
		return fail.NotFound()
	}
	if err := p.place.RequireSee(p.Caller); err != nil {
		return err
	}
	if p.list.FeedType != "published" {
		return auth.Require(p.Caller, auth.ModeratePostAndComment, p.place.Scope(""))
	}
	return nil
}

func (p *postPage) known(rows []store.Post) view.Rows {
	k := view.Rows{Posts: rows, Users: append(p.UserRows(), p.owners...), Categories: p.categories}
	if p.place.Community != nil {
		k.Communities = []store.Community{*p.place.Community}
	}
	if p.place.Member != nil {
		k.Members = []store.Member{*p.place.Member}
	}
	return k
}
