package view

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Rows are the rows that an operation has read: the primary rows of its response, and any that these refer to. Load
// reads the rest.
type Rows struct {
	// Posts, Stories and Comments are the primary rows, in the order of the response.
	Posts    []content.Post
	Stories  []content.Story
	Comments []content.Comment
	// Communities are the communities that the primary rows belong to.
	Communities []communities.Community
	Categories  []communities.Category
	Members     []communities.Member
	Users       []people.User
	// UserIDs are users to return in addition to those that the rows refer to.
	UserIDs []string
	// NewChildren are child posts inserted by this operation: all of their counts are zero.
	NewChildren []content.Post
	// Children are child posts that the operation has read.
	Children []content.Post
	// IsNew is whether this operation inserted the primary rows, so that nothing refers to them yet.
	IsNew bool
	// Counts holds counts that are known; those of other references are read.
	Counts core.Counts
}

// loader builds one response about posts, stories or comments.
type loader struct {
	Rows
	builder      *Builder
	viewer       *viewer
	viewerID     string
	children     []content.Post
	replies      []content.Comment  // embedded comments of posts and stories, or replies of comments
	mine         []content.Reaction // by the viewer
	pendingEdits []content.PendingEdit
	polls        []content.Poll
	votes        []content.PollVote // by the viewer
	productIDs   []string
	products     []content.Product

	streams, childStreams []media.VideoStream
	rooms, childRooms     []media.Room

	files prefetchedFiles
}

// Load reads the rows that the given ones refer to, in one round trip to each home concerned, and converts all of them.
// viewerID is the internal id of the caller, empty for administrators.
func (b *Builder) Load(ctx context.Context, st *store.Store, viewerID string, rows Rows) (*Aggregate, error) {
	if rows.Counts == nil {
		rows.Counts = core.Counts{}
	}
	rows.redactDeleted()
	l := &loader{Rows: rows, builder: b, viewer: viewerOf(ctx), viewerID: viewerID}
	batch := st.NewBestEffortBatch()
	readUsers(batch, l.wantedUsers(), &l.Users, &l.files)
	l.readMembers(batch)
	l.viewer.readMemberships(batch, l.Members, l.moderatedPlaces())
	l.readPendingEdits(batch)
	l.readReplies(batch)
	l.readChildren(batch)
	l.readCategories(batch)
	l.readCounts(batch)
	l.readPolls(batch)
	l.readProducts(batch)
	l.readStreams(batch)
	l.readRooms(batch)
	l.readFiles(batch)
	if err := batch.Run(ctx); err != nil {
		return nil, err
	}
	l.restrict()
	a := l.build(ctx)
	var err error
	a.Files, err = b.filesOf(ctx, st, a, &l.files)
	return a, err
}

// restrict removes what the caller must not see from the rows.
func (l *loader) restrict() {
	l.Posts, l.children = l.viewer.posts(l.Posts), l.viewer.posts(l.children)
	l.Comments, l.replies = l.viewer.comments(l.Comments), l.viewer.comments(l.replies)
	l.Stories = l.viewer.stories(l.Stories)
}

// contentRow is what posts, stories and comments have in common.
type contentRow struct {
	id, authorID         string
	targetType, targetID string
	latest               content.LatestComments // comments of a post or story, or replies of a comment
	mentionees           []byte
}

// contents returns the primary rows.
func (l *loader) contents() []contentRow {
	var all []contentRow
	for _, p := range l.Posts {
		all = append(all, contentRow{p.ID, p.AuthorID, p.TargetType, p.TargetID, p.LatestComments, p.Mentionees})
	}
	for _, s := range l.Stories {
		all = append(all, contentRow{s.ID, s.AuthorID, s.TargetType, s.TargetID, s.LatestComments, s.Mentionees})
	}
	for _, c := range l.Comments {
		all = append(all, contentRow{c.ID, c.AuthorID, c.TargetType, c.TargetID, c.LatestReplies, c.Mentionees})
	}
	return all
}

// wantedUsers returns the users of the response: authors, owners of walls, creators of communities and mentioned users.
func (l *loader) wantedUsers() *idSet {
	wanted := newIDSet()
	for _, c := range l.contents() {
		wanted.add(c.authorID)
		if c.targetType == "user" {
			wanted.add(c.targetID)
		}
		wanted.add(c.latest.Authors()...)
	}
	wanted.add(l.UserIDs...)
	for _, c := range l.Communities {
		wanted.add(c.CreatorID)
	}
	for _, c := range l.contents() {
		wanted.add(mentionedIDs(c.mentionees)...)
	}
	return wanted
}

// readUsers reads the wanted users that are not in rows, and their avatars. It drops the other users from rows.
func readUsers(batch *store.ReadBatch, wanted *idSet, rows *[]people.User, files *prefetchedFiles) {
	order := wanted.list()
	var known []people.User
	missing := newIDSet(order...)
	for _, u := range *rows {
		if wanted.has(u.ID) {
			known = append(known, u)
			missing.exclude(u.ID)
		}
	}
	people.SortUsers(known, order)
	*rows = known
	var read []people.User
	batch.Users(missing.list(), &read)
	batch.AvatarFiles(missing.list(), &files.avatars)
	batch.Then(func() { *rows = slices.Concat(known, read); people.SortUsers(*rows, order) })
}

// readMissingUsers reads the wanted users that are not in rows, and adds them to rows.
func readMissingUsers(batch *store.ReadBatch, wanted *idSet, rows *[]people.User) {
	missing := newIDSet(wanted.list()...)
	for _, u := range *rows {
		missing.exclude(u.ID)
	}
	var read []people.User
	batch.Users(missing.list(), &read)
	batch.Then(func() { *rows = slices.Concat(*rows, read) })
}

// usersIn converts the users in wanted, in its order.
func (b *Builder) usersIn(ctx context.Context, wanted *idSet, rows []people.User) []*plazav1.User {
	rows = slices.DeleteFunc(slices.Clone(rows), func(u people.User) bool { return !wanted.has(u.ID) })
	people.SortUsers(rows, wanted.list())
	return b.Users(ctx, rows)
}

// readMembers reads the authors' memberships in the communities that they wrote in.
func (l *loader) readMembers(batch *store.ReadBatch) {
	wanted := map[string]*idSet{}
	for _, c := range l.contents() {
		if c.targetType != "community" {
			continue
		}
		if wanted[c.targetID] == nil {
			wanted[c.targetID] = newIDSet()
		}
		wanted[c.targetID].add(c.authorID)
		wanted[c.targetID].add(c.latest.Authors()...)
	}
	for _, m := range l.Members {
		if s := wanted[m.CommunityID]; s != nil {
			s.exclude(m.UserID)
		}
	}
	for communityID, users := range wanted {
		part := new([]communities.Member)
		batch.Members(communityID, users.list(), part)
		batch.Then(func() { l.Members = slices.Concat(l.Members, *part) })
	}
}

// readReplies reads the embedded comments of posts and stories, and the replies of comments.
func (l *loader) readReplies(batch *store.ReadBatch) {
	var ids []string
	for _, c := range l.contents() {
		ids = append(ids, c.latest.IDs()...)
	}
	batch.CommentsByID(ids, &l.replies)
}

func (l *loader) readChildren(batch *store.ReadBatch) {
	wanted := newIDSet()
	for _, p := range l.Posts {
		wanted.add(p.Children...)
	}
	known := slices.Concat(l.NewChildren, l.Rows.Children)
	for _, c := range known {
		wanted.exclude(c.ID)
	}
	l.children = known
	var read []content.Post
	batch.PostsByID(wanted.list(), &read)
	batch.Then(func() { l.children = slices.Concat(known, read) })
}

func (l *loader) readCategories(batch *store.ReadBatch) {
	wanted := newIDSet()
	for _, c := range l.Communities {
		wanted.add(c.CategoryIDs...)
	}
	for _, c := range l.Categories {
		wanted.exclude(c.ID)
	}
	var read []communities.Category
	batch.Categories(wanted.list(), &read)
	batch.Then(func() { l.Categories = slices.Concat(l.Categories, read) })
}

// readCounts reads the counts of everything in the response, and the viewer's reactions to it.
func (l *loader) readCounts(batch *store.ReadBatch) {
	refs := slices.DeleteFunc(l.wantedCounts().list(), func(ref string) bool {
		_, known := l.Counts[ref]
		return known
	})
	batch.CountsOf(refs, l.Counts)
	if l.viewerID != "" {
		batch.UserReactions(refs, l.viewerID, &l.mine)
	}
}

func (l *loader) wantedCounts() *idSet {
	wanted := newIDSet()
	for _, c := range l.contents() {
		wanted.add(c.id)
		wanted.add(c.latest.IDs()...)
	}
	for _, p := range l.Posts {
		wanted.add(p.TargetID)
		wanted.add(p.Children...)
	}
	for _, c := range l.Communities {
		wanted.add(c.ID)
	}
	for _, c := range l.NewChildren {
		wanted.exclude(c.ID)
	}
	return wanted
}
