package view

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ChannelAnswer is what an operation on channels has read, and what its answer is about.
type ChannelAnswer struct {
	// Channels in the order of the answer, each once.
	Channels []store.Channel
	// Viewer is the caller; nil for an administrator.
	Viewer *store.User
	// ViewerReads is whether the caller reads what is in channels that they are no member of.
	ViewerReads bool
	// ChannelUsers are known: the concerned users, in the order of the answer, and the viewer. How the viewer stands to the other
	// channels is read.
	ChannelUsers []store.ChannelUser
	// OnlyUsers keeps the viewer out of the answer where they are not among ChannelUsers: lists of users hold their page and
	// nothing else.
	OnlyUsers bool
	// Users are rows that are known. Only those that the answer refers to appear in it.
	Users []store.User
	// Settings say whether there are previews, and of what.
	Settings store.Settings
}

// channelGathering is one answer about channels under way.
type channelGathering struct {
	ChannelAnswer
	builder  *Builder
	mine     []store.ChannelUser
	counts   store.Counts
	feeds    []store.MessageFeed
	previews []store.Message
	marks    []store.FeedMark
}

// Channels reads, in one round trip to each home concerned, what channels refer to, and builds the answer; the authors of previews
// that are not among its users take another one. Each channel comes with how the viewer stands to it, `none` for a stranger.
func (b *Builder) Channels(ctx context.Context, st *store.Store, a ChannelAnswer) (*plazav1.ChannelResponse, error) {
	g := &channelGathering{ChannelAnswer: a, builder: b, counts: store.Counts{}}
	reads := st.Related()
	g.readUsers(reads, g.wantedUsers())
	g.readMine(reads)
	g.readFacts(reads)
	g.readMarks(reads)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	g.previews = slices.DeleteFunc(g.previews, func(m store.Message) bool { return !g.reads(m.ChannelID) })
	authors := st.Related()
	g.readUsers(authors, g.wantedUsers())
	if err := authors.Run(ctx); err != nil {
		return nil, err
	}
	answer := g.build()
	var err error
	answer.Files, err = b.filesOf(ctx, st, noFilesAtHand(), each(answer.GetChannels()), each(answer.GetUsers()))
	return answer, err
}

// wantedUsers are the concerned users, the creators and the authors of the previews.
func (g *channelGathering) wantedUsers() *set {
	wanted := newSet()
	for _, u := range g.ChannelUsers {
		wanted.add(u.UserID)
	}
	for _, c := range g.Channels {
		wanted.add(c.CreatorID)
	}
	for _, m := range g.previews {
		wanted.add(m.CreatorID)
	}
	if g.Viewer != nil && !g.OnlyUsers {
		wanted.add(g.Viewer.ID)
	}
	return wanted
}

func (g *channelGathering) readUsers(reads *store.Reads, wanted *set) {
	if g.Viewer != nil {
		g.Users = append(slices.Clip(g.Users), *g.Viewer)
	}
	for _, u := range g.Users {
		wanted.remove(u.ID)
	}
	if ids := wanted.list(); len(ids) > 0 {
		var read []store.User
		reads.Users(ids, &read)
		reads.Then(func() { g.Users = append(g.Users, read...) })
	}
}

func (g *channelGathering) ids() []string {
	ids := make([]string, len(g.Channels))
	for i, c := range g.Channels {
		ids[i] = c.ID
	}
	return ids
}

// readMine reads how the viewer stands to the channels where that is not known.
func (g *channelGathering) readMine(reads *store.Reads) {
	if g.Viewer == nil {
		return
	}
	wanted := newSet()
	wanted.add(g.ids()...)
	for _, u := range g.ChannelUsers {
		if u.UserID == g.Viewer.ID {
			wanted.remove(u.ChannelID)
		}
	}
	if ids := wanted.list(); len(ids) > 0 {
		reads.ChannelUsersOf(g.Viewer.ID, ids, &g.mine)
	}
}

// readFacts reads the counts, the first subchannels and their last messages.
func (g *channelGathering) readFacts(reads *store.Reads) {
	ids := g.ids()
	reads.CountsOf(ids, g.counts)
	reads.MessageFeeds(ids, &g.feeds)
	switch {
	case !g.Settings.MessagePreviewEnabled || g.OnlyUsers:
	case g.Settings.MessagePreviewIncludesDeleted:
		reads.LastMessagesEver(ids, &g.previews)
	default:
		reads.LastMessages(ids, &g.previews)
	}
}

// readMarks reads how far the users of the answer have read the first subchannels.
func (g *channelGathering) readMarks(reads *store.Reads) {
	if g.Viewer != nil {
		g.readPart(func(into *[]store.FeedMark) { reads.FeedMarks(g.Viewer.ID, g.ids(), into) }, reads)
	}
	wanted := map[string]map[region.Code][]string{}
	for _, u := range g.ChannelUsers {
		home, err := region.HomeOf(u.UserID)
		if err != nil || g.Viewer != nil && u.UserID == g.Viewer.ID {
			continue
		}
		if wanted[u.ChannelID] == nil {
			wanted[u.ChannelID] = map[region.Code][]string{}
		}
		wanted[u.ChannelID][home] = append(wanted[u.ChannelID][home], u.UserID)
	}
	for channelID, homes := range wanted {
		for home, ids := range homes {
			g.readPart(func(into *[]store.FeedMark) { reads.FeedMarksOfUsers(home, channelID, ids, into) }, reads)
		}
	}
}

func (g *channelGathering) readPart(read func(into *[]store.FeedMark), reads *store.Reads) {
	part := new([]store.FeedMark)
	read(part)
	reads.Then(func() { g.marks = append(g.marks, *part...) })
}

func (g *channelGathering) build() *plazav1.ChannelResponse {
	answer := &plazav1.ChannelResponse{Users: g.users()}
	var shown []store.ChannelUser
	for _, c := range g.Channels {
		feed, preview := g.feed(c.ID), g.preview(c.ID)
		answer.Channels = append(answer.Channels, g.builder.Channel(c, g.counts, feed, preview))
		if feed != nil && !g.OnlyUsers {
			answer.MessageFeedsInfo = append(answer.MessageFeedsInfo, messageFeedInfo(*feed, preview))
		}
		if preview != nil {
			answer.MessagePreviews = append(answer.MessagePreviews, g.builder.MessagePreview(c, *preview))
		}
		if mine := g.my(c.ID); mine != nil && !g.OnlyUsers {
			shown = append(shown, *mine)
		}
	}
	answer.ChannelUsers = g.channelUsers(append(shown, g.ChannelUsers...))
	return answer
}

func (g *channelGathering) channelUsers(users []store.ChannelUser) []*plazav1.ChannelUser {
	seen := newSet()
	var out []*plazav1.ChannelUser
	for _, u := range users {
		key := u.ChannelID + u.UserID
		at := slices.IndexFunc(g.Channels, func(c store.Channel) bool { return c.ID == u.ChannelID })
		if at < 0 || seen.has[key] {
			continue
		}
		seen.add(key)
		out = append(out, g.builder.ChannelUser(g.Channels[at], u, g.mark(u), g.unmarked(u)))
	}
	return out
}

// unmarked is how far somebody without a marker has read: no message came since they joined, and what came before is no news.
func (g *channelGathering) unmarked(u store.ChannelUser) int64 {
	if feed := g.feed(u.ChannelID); feed != nil && u.IsMember() {
		return feed.LastSegment
	}
	return 0
}

func (g *channelGathering) mark(u store.ChannelUser) *store.FeedMark {
	return find(g.marks, func(m *store.FeedMark) bool { return m.FeedID == u.ChannelID && m.UserID == u.UserID })
}

func (g *channelGathering) feed(channelID string) *store.MessageFeed {
	return find(g.feeds, func(f *store.MessageFeed) bool { return f.ID == channelID })
}

func (g *channelGathering) preview(channelID string) *store.Message {
	return find(g.previews, func(m *store.Message) bool { return m.ChannelID == channelID })
}

// my is how the viewer stands to a channel; nil for an administrator.
func (g *channelGathering) my(channelID string) *store.ChannelUser {
	if g.Viewer == nil {
		return nil
	}
	of := func(u *store.ChannelUser) bool { return u.ChannelID == channelID && u.UserID == g.Viewer.ID }
	if known := find(g.ChannelUsers, of); known != nil {
		return known
	}
	if read := find(g.mine, of); read != nil {
		return read
	}
	return &store.ChannelUser{ChannelID: channelID, UserID: g.Viewer.ID, UserPublicID: g.Viewer.PublicID}
}

// reads reports whether the viewer reads what is in a channel; nobody reads in a deleted one.
func (g *channelGathering) reads(channelID string) bool {
	c := find(g.Channels, func(c *store.Channel) bool { return c.ID == channelID })
	return c != nil && c.DeletedAt == nil && (g.ViewerReads || g.my(channelID).IsMember())
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

func (g *channelGathering) users() []*plazav1.User {
	wanted := g.wantedUsers()
	rows := slices.DeleteFunc(slices.Clone(g.Users), func(u store.User) bool { return !wanted.has[u.ID] })
	store.SortUsers(rows, wanted.list())
	return g.builder.Users(rows)
}
