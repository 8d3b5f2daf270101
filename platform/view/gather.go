package view

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Known is what an operation has read: the primary rows, and whatever else it came by on the way. Gather reads the rest
// that they refer to.
type Known struct {
	// Posts, Comments or Stories are the primary rows, in the order of the answer.
	Posts    []store.Post
	Stories  []store.Story
	Comments []store.Comment
	// Communities are those that the primary rows stand in.
	Communities []store.Community
	Categories  []store.Category
	Members     []store.Member
	Users       []store.User
	// UserIDs are users that the answer speaks of beside those that the rows refer to.
	UserIDs []string
	// Made are the child posts of posts that were just made, of which nothing is counted yet; Children are child posts that
	// were read on the way. Those of other posts are read.
	Made, Children []store.Post
	// Counts holds the counts of the references that are keys of it.
	Counts store.Counts
}

// Aggregate holds every related collection of an answer about posts, comments or stories, each object once.
type Aggregate struct {
	Posts           []*plazav1.Post
	Stories         []*plazav1.Story
	PostChildren    []*plazav1.Post
	Comments        []*plazav1.Comment
	CommentChildren []*plazav1.Comment
	Users           []*plazav1.User
	Files           []*plazav1.File
	Communities     []*plazav1.Community
	CommunityUsers  []*plazav1.CommunityUser
	Categories      []*plazav1.Category
	Feeds           []*plazav1.Feed
	Roles           []*plazav1.Role
	Polls           []*plazav1.Poll

	VideoStreamings        []*plazav1.VideoStreaming
	VideoStreamingChildren []*plazav1.VideoStreaming
	Rooms                  []*plazav1.Room
	RoomChildrens          []*plazav1.Room
}

// gathering is one answer under way.
type gathering struct {
	Known
	builder  *Builder
	viewerID string
	children []store.Post
	replies  []store.Comment  // embedded comments of posts, or replies of comments
	mine     []store.Reaction // the viewer's
	polls    []store.Poll
	votes    []store.PollVote // the viewer's

	streams, childStreams []store.VideoStream
	rooms, childRooms     []store.Room

	files filesAtHand
}

// Gather reads, in one round trip to each home concerned, what the known rows refer to, and builds the answer's
// collections. viewerID is the internal id of the caller, empty for an administrator.
func (b *Builder) Gather(ctx context.Context, st *store.Store, viewerID string, k Known) (*Aggregate, error) {
	if k.Counts == nil {
		k.Counts = store.Counts{}
	}
	k.bury()
	g := &gathering{Known: k, builder: b, viewerID: viewerID}
	reads := st.NewBestEffortBatch()
	g.readUsers(reads)
	g.readMembers(reads)
	g.readContent(reads)
	g.readCounts(reads)
	g.readPolls(reads)
	g.readStreams(reads)
	g.readRooms(reads)
	g.readFiles(reads)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	a := g.build()
	var err error
	a.Files, err = b.filesOf(ctx, st, &g.files, each(a.Posts), each(a.PostChildren), each(a.Stories), each(a.Comments), each(a.CommentChildren),
		each(a.Polls), each(a.VideoStreamings), each(a.VideoStreamingChildren), each(a.Rooms), each(a.RoomChildrens),
		each(a.Users), each(a.Communities), each(a.Categories))
	return a, err
}

// authors calls visit with the author of everything in the answer, and the community or wall it stands in.
func (g *gathering) authors(visit func(userID, targetType, targetID string)) {
	for _, p := range g.Posts {
		visit(p.AuthorID, p.TargetType, p.TargetID)
		for _, id := range p.CommentAuthors {
			visit(id, p.TargetType, p.TargetID)
		}
	}
	for _, s := range g.Stories {
		visit(s.AuthorID, s.TargetType, s.TargetID)
		for _, id := range s.CommentAuthors {
			visit(id, s.TargetType, s.TargetID)
		}
	}
	for _, c := range g.Comments {
		visit(c.AuthorID, c.TargetType, c.TargetID)
		for _, id := range c.ReplyAuthors {
			visit(id, c.TargetType, c.TargetID)
		}
	}
}

func (g *gathering) readUsers(reads *store.ReadBatch) {
	wanted := newSet()
	g.authors(func(userID, targetType, targetID string) {
		wanted.add(userID)
		if targetType == "user" {
			wanted.add(targetID)
		}
	})
	wanted.add(g.UserIDs...)
	for _, c := range g.Communities {
		wanted.add(c.CreatorID)
	}
	for _, p := range g.Posts {
		wanted.add(mentionedIDs(p.Mentionees)...)
	}
	for _, s := range g.Stories {
		wanted.add(mentionedIDs(s.Mentionees)...)
	}
	for _, c := range g.Comments {
		wanted.add(mentionedIDs(c.Mentionees)...)
	}
	order := slices.Clone(wanted.list()) // in the order in which the answer speaks of them
	// What is at hand belongs to the answer only where the answer speaks of it.
	known := slices.DeleteFunc(slices.Clone(g.Users), func(u store.User) bool { return !slices.Contains(wanted.list(), u.ID) })
	for _, u := range known {
		wanted.remove(u.ID)
	}
	g.Users = known
	if ids := wanted.list(); len(ids) > 0 {
		var read []store.User
		reads.Users(ids, &read)
		reads.AvatarFiles(ids, &g.files.avatars)
		reads.Then(func() { g.Users = slices.Concat(known, read); store.SortUsers(g.Users, order) })
	} else {
		store.SortUsers(g.Users, order)
	}
}

// readMembers reads how the authors stand to the communities they wrote in.
func (g *gathering) readMembers(reads *store.ReadBatch) {
	wanted := map[string]*set{}
	g.authors(func(userID, targetType, targetID string) {
		if targetType != "community" {
			return
		}
		if wanted[targetID] == nil {
			wanted[targetID] = newSet()
		}
		wanted[targetID].add(userID)
	})
	for _, m := range g.Members {
		if s := wanted[m.CommunityID]; s != nil {
			s.remove(m.UserID)
		}
	}
	for communityID, users := range wanted {
		if ids := users.list(); len(ids) > 0 {
			part := new([]store.Member)
			reads.Members(communityID, ids, part)
			reads.Then(func() { g.Members = slices.Concat(g.Members, *part) })
		}
	}
}

// readContent reads child posts, embedded comments and replies, and the categories of the communities.
func (g *gathering) readContent(reads *store.ReadBatch) {
	var comments []string
	children := newSet()
	for _, p := range g.Posts {
		comments = append(comments, p.CommentIDs...)
		children.add(p.Children...)
	}
	g.children = slices.Concat(g.Made, g.Known.Children)
	for _, c := range g.children {
		children.remove(c.ID)
	}
	for _, s := range g.Stories {
		comments = append(comments, s.CommentIDs...)
	}
	for _, c := range g.Comments {
		comments = append(comments, c.ReplyIDs...)
	}
	if len(comments) > 0 {
		reads.CommentsByID(comments, &g.replies)
	}
	if ids := children.list(); len(ids) > 0 {
		atHand, read := g.children, new([]store.Post)
		reads.PostsByID(ids, read)
		reads.Then(func() { g.children = slices.Concat(atHand, *read) })
	}
	categories := newSet()
	for _, c := range g.Communities {
		categories.add(c.CategoryIDs...)
	}
	for _, c := range g.Categories {
		categories.remove(c.ID)
	}
	if ids := categories.list(); len(ids) > 0 {
		var read []store.Category
		reads.Categories(ids, &read)
		reads.Then(func() { g.Categories = slices.Concat(g.Categories, read) })
	}
}

// readCounts reads what there are counts of, and how the viewer reacts to it.
func (g *gathering) readCounts(reads *store.ReadBatch) {
	wanted := newSet()
	for _, p := range g.Posts {
		wanted.add(p.ID, p.TargetID)
		wanted.add(p.CommentIDs...)
		wanted.add(p.Children...)
	}
	for _, s := range g.Stories {
		wanted.add(s.ID)
		wanted.add(s.CommentIDs...)
	}
	for _, c := range g.Comments {
		wanted.add(c.ID)
		wanted.add(c.ReplyIDs...)
	}
	for _, c := range g.Communities {
		wanted.add(c.ID)
	}
	for _, c := range g.Made {
		wanted.remove(c.ID)
	}
	homes := map[region.Code][]string{}
	for _, ref := range wanted.list() {
		if _, known := g.Counts[ref]; known {
			continue
		}
		if home, err := region.HomeOf(ref); err == nil {
			homes[home] = append(homes[home], ref)
		}
	}
	for home, refs := range homes {
		reads.Counts(home, refs, g.Counts)
		if g.viewerID != "" {
			reads.ReactionsOf(home, refs, g.viewerID, &g.mine)
		}
	}
}

// set keeps texts in the order of their arrival, each once, and without the empty one.
type set struct {
	order []string
	has   map[string]bool
}

func newSet() *set { return &set{has: map[string]bool{"": true}} }

func (s *set) add(ids ...string) {
	for _, id := range ids {
		if !s.has[id] {
			s.has[id] = true
			s.order = append(s.order, id)
		}
	}
}

// remove takes an id out and keeps it from coming back.
func (s *set) remove(id string) {
	s.has[id] = true
	for i, have := range s.order {
		if have == id {
			s.order = append(s.order[:i], s.order[i+1:]...)
			return
		}
	}
}

func (s *set) list() []string { return s.order }
