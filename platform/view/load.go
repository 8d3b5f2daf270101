package view

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Rows are the rows that an operation has read: the primary rows of its response, and any that these refer to. Load
// reads the rest.
type Rows struct {
	// Posts, Stories and Comments are the primary rows, in the order of the response.
	Posts    []store.Post
	Stories  []store.Story
	Comments []store.Comment
	// Communities are the communities that the primary rows belong to.
	Communities []store.Community
	Categories  []store.Category
	Members     []store.Member
	Users       []store.User
	// UserIDs are users to return in addition to those that the rows refer to.
	UserIDs []string
	// NewChildren are child posts inserted by this operation: all of their counts are zero.
	NewChildren []store.Post
	// Children are child posts that the operation has read.
	Children []store.Post
	// IsNew is whether this operation inserted the primary rows, so that nothing refers to them yet.
	IsNew bool
	// Counts holds counts that are known; those of other references are read.
	Counts store.Counts
}

// loader builds one response about posts, stories or comments.
type loader struct {
	Rows
	builder      *Builder
	viewer       *viewer
	viewerID     string
	children     []store.Post
	replies      []store.Comment  // embedded comments of posts and stories, or replies of comments
	mine         []store.Reaction // by the viewer
	pendingEdits []store.PendingEdit
	polls        []store.Poll
	votes        []store.PollVote // by the viewer
	productIDs   []string
	products     []store.Product

	streams, childStreams []store.VideoStream
	rooms, childRooms     []store.Room

	files prefetchedFiles
}

// Load reads the rows that the given ones refer to, in one round trip to each home concerned, and converts all of them.
// viewerID is the internal id of the caller, empty for administrators.
func (b *Builder) Load(ctx context.Context, st *store.Store, viewerID string, rows Rows) (*Aggregate, error) {
	if rows.Counts == nil {
		rows.Counts = store.Counts{}
	}
	rows.redactDeleted()
	l := &loader{Rows: rows, builder: b, viewer: viewerOf(ctx), viewerID: viewerID}
	batch := st.NewBestEffortBatch()
	l.readUsers(batch)
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
	a.Files, err = b.filesOf(ctx, st, &l.files, each(a.Posts), each(a.PostChildren), each(a.Stories), each(a.Comments), each(a.CommentChildren),
		each(a.Polls), each(a.VideoStreamings), each(a.VideoStreamingChildren), each(a.Rooms), each(a.RoomChildrens),
		each(a.Users), each(a.Communities), each(a.Categories))
	return a, err
}

// restrict removes what the caller must not see from the rows.
func (l *loader) restrict() {
	l.Posts, l.children = l.viewer.posts(l.Posts), l.viewer.posts(l.children)
	l.Comments, l.replies = l.viewer.comments(l.Comments), l.viewer.comments(l.replies)
	l.Stories = l.viewer.stories(l.Stories)
}

// authors calls visit with every author in the response and the target (community or wall) that they wrote in.
func (l *loader) authors(visit func(userID, targetType, targetID string)) {
	for _, p := range l.Posts {
		visit(p.AuthorID, p.TargetType, p.TargetID)
		for _, id := range p.LatestComments.Authors() {
			visit(id, p.TargetType, p.TargetID)
		}
	}
	for _, s := range l.Stories {
		visit(s.AuthorID, s.TargetType, s.TargetID)
		for _, id := range s.LatestComments.Authors() {
			visit(id, s.TargetType, s.TargetID)
		}
	}
	for _, c := range l.Comments {
		visit(c.AuthorID, c.TargetType, c.TargetID)
		for _, id := range c.LatestReplies.Authors() {
			visit(id, c.TargetType, c.TargetID)
		}
	}
}

// wantedUsers returns the users of the response: authors, owners of walls, creators of communities and mentioned users.
func (l *loader) wantedUsers() *idSet {
	wanted := newIDSet()
	l.authors(func(userID, targetType, targetID string) {
		wanted.add(userID)
		if targetType == "user" {
			wanted.add(targetID)
		}
	})
	wanted.add(l.UserIDs...)
	for _, c := range l.Communities {
		wanted.add(c.CreatorID)
	}
	for _, p := range l.Posts {
		wanted.add(mentionedIDs(p.Mentionees)...)
	}
	for _, s := range l.Stories {
		wanted.add(mentionedIDs(s.Mentionees)...)
	}
	for _, c := range l.Comments {
		wanted.add(mentionedIDs(c.Mentionees)...)
	}
	return wanted
}

// readUsers reads the users that are not known, and drops known users that the response does not refer to.
func (l *loader) readUsers(batch *store.ReadBatch) {
	wanted := l.wantedUsers()
	order := slices.Clone(wanted.list())
	known := slices.DeleteFunc(slices.Clone(l.Users), func(u store.User) bool { return !slices.Contains(order, u.ID) })
	for _, u := range known {
		wanted.exclude(u.ID)
	}
	l.Users = known
	store.SortUsers(l.Users, order)
	if ids := wanted.list(); len(ids) > 0 {
		var read []store.User
		batch.Users(ids, &read)
		batch.AvatarFiles(ids, &l.files.avatars)
		batch.Then(func() { l.Users = slices.Concat(known, read); store.SortUsers(l.Users, order) })
	}
}

// readMissingUsers reads the wanted users that are not in rows, and adds them to rows.
func readMissingUsers(batch *store.ReadBatch, wanted *idSet, rows *[]store.User) {
	for _, u := range *rows {
		wanted.exclude(u.ID)
	}
	if ids := wanted.list(); len(ids) > 0 {
		var read []store.User
		batch.Users(ids, &read)
		batch.Then(func() { *rows = slices.Concat(*rows, read) })
	}
}

// usersIn converts the users in wanted, in its order.
func (b *Builder) usersIn(ctx context.Context, wanted *idSet, rows []store.User) []*plazav1.User {
	rows = slices.DeleteFunc(slices.Clone(rows), func(u store.User) bool { return !wanted.has(u.ID) })
	store.SortUsers(rows, wanted.list())
	return b.Users(ctx, rows)
}

// readMembers reads the authors' memberships in the communities that they wrote in.
func (l *loader) readMembers(batch *store.ReadBatch) {
	wanted := map[string]*idSet{}
	l.authors(func(userID, targetType, targetID string) {
		if targetType != "community" {
			return
		}
		if wanted[targetID] == nil {
			wanted[targetID] = newIDSet()
		}
		wanted[targetID].add(userID)
	})
	for _, m := range l.Members {
		if s := wanted[m.CommunityID]; s != nil {
			s.exclude(m.UserID)
		}
	}
	for communityID, users := range wanted {
		if ids := users.list(); len(ids) > 0 {
			part := new([]store.Member)
			batch.Members(communityID, ids, part)
			batch.Then(func() { l.Members = slices.Concat(l.Members, *part) })
		}
	}
}

// readReplies reads the embedded comments of posts and stories, and the replies of comments.
func (l *loader) readReplies(batch *store.ReadBatch) {
	var ids []string
	for _, p := range l.Posts {
		ids = append(ids, p.LatestComments.IDs()...)
	}
	for _, s := range l.Stories {
		ids = append(ids, s.LatestComments.IDs()...)
	}
	for _, c := range l.Comments {
		ids = append(ids, c.LatestReplies.IDs()...)
	}
	if len(ids) > 0 {
		batch.CommentsByID(ids, &l.replies)
	}
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
	if ids := wanted.list(); len(ids) > 0 {
		read := new([]store.Post)
		batch.PostsByID(ids, read)
		batch.Then(func() { l.children = slices.Concat(known, *read) })
	}
}

func (l *loader) readCategories(batch *store.ReadBatch) {
	wanted := newIDSet()
	for _, c := range l.Communities {
		wanted.add(c.CategoryIDs...)
	}
	for _, c := range l.Categories {
		wanted.exclude(c.ID)
	}
	if ids := wanted.list(); len(ids) > 0 {
		var read []store.Category
		batch.Categories(ids, &read)
		batch.Then(func() { l.Categories = slices.Concat(l.Categories, read) })
	}
}

// readCounts reads the counts of everything in the response, and the viewer's reactions to it.
func (l *loader) readCounts(batch *store.ReadBatch) {
	homes := map[region.Code][]string{}
	for _, ref := range l.wantedCounts().list() {
		if _, known := l.Counts[ref]; known {
			continue
		}
		if home, err := batch.HomeOf(ref); err == nil {
			homes[home] = append(homes[home], ref)
		}
	}
	for home, refs := range homes {
		batch.Counts(home, refs, l.Counts)
		if l.viewerID != "" {
			batch.ReactionsOf(home, refs, l.viewerID, &l.mine)
		}
	}
}

func (l *loader) wantedCounts() *idSet {
	wanted := newIDSet()
	for _, p := range l.Posts {
		wanted.add(p.ID, p.TargetID)
		wanted.add(p.LatestComments.IDs()...)
		wanted.add(p.Children...)
	}
	for _, s := range l.Stories {
		wanted.add(s.ID)
		wanted.add(s.LatestComments.IDs()...)
	}
	for _, c := range l.Comments {
		wanted.add(c.ID)
		wanted.add(c.LatestReplies.IDs()...)
	}
	for _, c := range l.Communities {
		wanted.add(c.ID)
	}
	for _, c := range l.NewChildren {
		wanted.exclude(c.ID)
	}
	return wanted
}
