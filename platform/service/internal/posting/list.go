package posting

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// PostQuery selects a page of the posts of one community or wall.
type PostQuery struct {
	TargetType  string // user, or community for anything else; ListContentPosts is for content
	TargetID    string // the community, the wall owner's public id, or the client's id of the content
	FeedType    string // published when empty
	SortBy      string
	DataTypes   []string
	ParentsOnly bool // with data types: match by what parents hold
	EveryPost   bool // without data types: children as well as parents
	Tags        []string
	HasFlag     *bool
	Deleted     core.Deleted
	Page        *plazav1.PageOptions
}

// postPage is a page that is being read.
type postPage struct {
	*service.Request
	list       content.PostList
	target     visibility.Target
	owners     []people.User
	categories []communities.Category
	rows       []content.Post
	stops      func() []core.Position
}

// ListPosts reads a page of posts and what it refers to, in two round trips, or up to five if
// a filter has no index.
func ListPosts(ctx context.Context, d *service.Deps, q PostQuery) (*view.Aggregate, *plazav1.Paging, error) {
	p := &postPage{Request: d.NewRequest(ctx)}
	cursor := p.Page(q.Page)
	p.list = q.list(cursor)
	if q.TargetType == "user" {
		p.list.TargetID = p.Resolve(ctx, q.TargetID)
		p.Users([]string{p.list.TargetID}, &p.owners)
	} else {
		p.CategoriesOfCommunity(p.list.TargetID, &p.categories)
	}
	visibility.ReadTarget(p.Request, q.TargetType, p.list.TargetID, &p.target)
	p.ListPosts(p.list, &p.rows)
	p.stops = p.Stops
	p.Check(p.requireSee)
	p.AfterRun(func(ctx context.Context) error { return p.filterFlagged(ctx, q.HasFlag) })
	if err := p.Run(ctx); err != nil {
		return nil, nil, err
	}
	k := p.target.Known(append(p.UserRows(), p.owners...))
	at := func(row content.Post) (time.Time, string, string) { return p.list.Key(row), "", row.ID }
	rows, paging := service.Page(cursor, p.rows, false, p.list.Desc, at, p.stops()...)
	k.Posts, k.Categories = rows, p.categories
	a, err := d.View.Load(ctx, d.Store, p.Caller.UserID, k)
	return a, paging, err
}

// ListContentPosts reads a page of the posts on one content id, or of those on content if the query has no target type,
// from all homes. Homes that do not answer are left out. Content posts are always published, because no one moderates them.
func ListContentPosts(ctx context.Context, d *service.Deps, q PostQuery) (*view.Aggregate, *plazav1.Paging, error) {
	f := d.NewRequest(ctx)
	cursor := f.Page(q.Page)
	list := q.list(cursor)
	f.Check(func() (err error) {
		list.Flagged, err = service.FlaggedOf(q.HasFlag, auth.Allowed(f.Caller, auth.ModeratePostAndComment, auth.Scope{}))
		return err
	})
	if err := f.Run(ctx); err != nil {
		return nil, nil, err
	}
	rows, paging, err := service.Merged[content.Post]{
		Cursor: cursor, Desc: list.Desc,
		At: func(row content.Post) (time.Time, string, string) { return list.Key(row), "", row.ID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]content.Post) {
			list.After, _, list.AfterID = from.Start(list.Desc)
			if q.TargetType == visibility.OnContent {
				reads.ListPostsOnContent(q.TargetID, list, into)
			} else {
				contentOfAll(reads, list, into)
			}
		},
	}.Page(ctx, d)
	if err != nil {
		return nil, nil, err
	}
	a, err := d.View.Load(ctx, d.Store, f.Caller.UserID, view.Rows{Posts: rows, Users: f.UserRows()})
	return a, paging, err
}

// contentOfAll reads up to a page of the content posts of each home.
func contentOfAll(reads *store.ReadBatch, list content.PostList, into *[]content.Post) {
	parts := make([][]content.Post, len(region.All()))
	for i, home := range region.All() {
		list.TargetID = visibility.ContentTarget(home)
		reads.ListPosts(list, &parts[i])
	}
	reads.Finally(func() { *into = slices.Concat(parts...) })
}

// filterFlagged reads the page again if the request filters by flags, because the first round trip tells whether the
// caller is a moderator.
func (p *postPage) filterFlagged(ctx context.Context, hasFlag *bool) (err error) {
	if p.list.Flagged, err = service.FlaggedOf(hasFlag, p.target.Moderates(p.Caller)); err != nil || p.list.Flagged == core.FlaggedAny {
		return err
	}
	reads := p.Deps.Store.NewReadBatch()
	reads.ListPosts(p.list, &p.rows)
	p.stops = reads.Stops
	return reads.Run(ctx)
}

func (q PostQuery) list(cursor page.Cursor) content.PostList {
	order := service.OrderOf(q.SortBy)
	list := content.PostList{
		TargetID: q.TargetID, FeedType: q.FeedType, DataTypes: q.DataTypes, ParentsOnly: q.ParentsOnly, EveryPost: q.EveryPost, Tags: q.Tags,
		Deleted: q.Deleted, ByUpdate: order.ByUpdate, Desc: order.Desc != cursor.Back, Limit: cursor.Limit + 1,
	}
	if list.FeedType == "" {
		list.FeedType = "published"
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	return list
}

// requireSee returns nil if the caller may read the posts of the target. Posts that are not published are for
// moderators.
func (p *postPage) requireSee() error {
	if p.target.WallOwnerID != "" && (len(p.owners) == 0 || p.owners[0].DeletedAt != nil) {
		return fail.NotFound()
	}
	if err := p.target.RequireSee(p.Caller); err != nil {
		return err
	}
	if p.list.FeedType != "published" {
		return auth.Require(p.Caller, auth.ModeratePostAndComment, p.target.Scope(""))
	}
	return nil
}
