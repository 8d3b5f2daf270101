package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ChannelRows are the rows that an operation on channels has read.
type ChannelRows struct {
	// Channels are the primary rows, unique, in the order of the response.
	Channels []messaging.Channel
	// IDs are the ids of channels to read together with what they refer to, in the order of the response, instead of Channels.
	IDs []string
	// Viewer is the caller; nil for administrators.
	Viewer *people.User
	// ViewerReads reports whether the caller may read the messages of channels without being a member.
	ViewerReads bool
	// ChannelUsers are known memberships: those of the users that the response is about, in its order, and those of the
	// viewer. The viewer's memberships in the other channels are read.
	ChannelUsers []messaging.ChannelUser
	// OnlyUsers leaves out memberships of the viewer that are not in ChannelUsers, as lists of users do.
	OnlyUsers bool
	// Users are known users. The response contains only those that it refers to.
	Users []people.User
	// Settings determine whether the response has message previews, and whether of deleted messages too.
	Settings network.Settings
}

// channelLoader builds one response about channels.
type channelLoader struct {
	ChannelRows
	builder  *Builder
	mine     []messaging.ChannelUser
	counts   core.Counts
	feeds    []messaging.MessageFeed
	previews []messaging.Message
	marks    []messaging.FeedMarker
}

// LoadChannels reads the rows that channels refer to, in one round trip to each home concerned, and converts all of
// them; unknown authors of previews take a second round trip, and creators too if the channels are read. Each channel comes
// with the viewer's membership, which is `none` if there is no row.
func (b *Builder) LoadChannels(ctx context.Context, st *store.Store, rows ChannelRows) (*plazav1.ChannelResponse, error) {
	l := &channelLoader{ChannelRows: rows, builder: b, counts: core.Counts{}}
	if l.Viewer != nil {
		l.Users = append(slices.Clip(l.Users), *l.Viewer)
	}
	batch := st.NewBestEffortBatch()
	readMissingUsers(batch, l.wantedUsers(), &l.Users)
	l.readMine(batch)
	l.readFeeds(batch)
	l.readMarks(batch)
	batch.CountsOf(l.ids(), l.counts)
	if err := l.readChannels(ctx, batch); err != nil {
		return nil, err
	}
	l.previews = slices.DeleteFunc(l.previews, func(m messaging.Message) bool { return !l.canRead(m.ChannelID) })
	authors := st.NewBestEffortBatch()
	readMissingUsers(authors, l.wantedUsers(), &l.Users)
	if err := authors.Run(ctx); err != nil {
		return nil, err
	}
	a := l.build(ctx)
	return a, b.FillFiles(ctx, st, a)
}

// readChannels runs a batch that also reads the channels that are not known. Their homes must be available.
func (l *channelLoader) readChannels(ctx context.Context, batch *store.ReadBatch) error {
	if len(l.IDs) > 0 {
		batch.Channels(l.IDs, &l.Channels)
	}
	if err := batch.Run(ctx); err != nil {
		return err
	}
	for home := range batch.ByHome(l.IDs) {
		if slices.Contains(batch.Missing(), home) {
			return fail.Unavailable(fmt.Sprintf("home region %s did not answer in time", home), nil)
		}
	}
	if len(l.IDs) > 0 {
		slices.SortFunc(l.Channels, func(a, b messaging.Channel) int {
			return cmp.Compare(slices.Index(l.IDs, a.ID), slices.Index(l.IDs, b.ID))
		})
	}
	return nil
}

func (l *channelLoader) ids() []string {
	if len(l.IDs) > 0 {
		return l.IDs
	}
	return mapList(l.Channels, func(c messaging.Channel) string { return c.ID })
}

// wantedUsers returns the users of the memberships, the creators, the authors of the previews and, if the response has
// their membership, the viewer.
func (l *channelLoader) wantedUsers() *idSet {
	wanted := newIDSet()
	for _, u := range l.ChannelUsers {
		wanted.add(u.UserID)
	}
	for _, c := range l.Channels {
		wanted.add(c.CreatorID)
	}
	for _, m := range l.previews {
		wanted.add(m.CreatorID)
	}
	if l.Viewer != nil && !l.OnlyUsers {
		wanted.add(l.Viewer.ID)
	}
	return wanted
}

// readMine reads the viewer's memberships that are not known.
func (l *channelLoader) readMine(batch *store.ReadBatch) {
	if l.Viewer == nil {
		return
	}
	wanted := newIDSet(l.ids()...)
	for _, u := range l.ChannelUsers {
		if u.UserID == l.Viewer.ID {
			wanted.exclude(u.ChannelID)
		}
	}
	batch.ChannelUsersOf(l.Viewer.ID, wanted.list(), &l.mine)
}

// readFeeds reads the first subchannels and their last messages.
func (l *channelLoader) readFeeds(batch *store.ReadBatch) {
	ids := l.ids()
	batch.MessageFeeds(ids, &l.feeds)
	switch {
	case !l.Settings.MessagePreviewEnabled || l.OnlyUsers:
	case l.Settings.MessagePreviewIncludesDeleted:
		batch.LastMessagesWithDeleted(ids, &l.previews)
	default:
		batch.LastMessages(ids, &l.previews)
	}
}

// readMarks reads the markers of the first subchannels for the viewer and the users of the memberships.
func (l *channelLoader) readMarks(batch *store.ReadBatch) {
	if l.Viewer != nil {
		part := new([]messaging.FeedMarker)
		batch.FeedMarkers(l.Viewer.ID, l.ids(), part)
		batch.Then(func() { l.marks = append(l.marks, *part...) })
	}
	wanted := map[string]map[region.Code][]string{}
	for _, u := range l.ChannelUsers {
		home, err := batch.HomeOf(u.UserID)
		if err != nil || l.Viewer != nil && u.UserID == l.Viewer.ID {
			continue
		}
		if wanted[u.ChannelID] == nil {
			wanted[u.ChannelID] = map[region.Code][]string{}
		}
		wanted[u.ChannelID][home] = append(wanted[u.ChannelID][home], u.UserID)
	}
	for channelID, homes := range wanted {
		for home, ids := range homes {
			part := new([]messaging.FeedMarker)
			batch.FeedMarkersOfUsers(home, channelID, ids, part)
			batch.Then(func() { l.marks = append(l.marks, *part...) })
		}
	}
}

func (l *channelLoader) build(ctx context.Context) *plazav1.ChannelResponse {
	a := &plazav1.ChannelResponse{Users: l.builder.usersIn(ctx, l.wantedUsers(), l.Users)}
	var users []messaging.ChannelUser
	for _, c := range l.Channels {
		feed, preview := l.feed(c.ID), l.preview(c.ID)
		a.Channels = append(a.Channels, l.builder.Channel(c, l.counts, feed, preview))
		if feed != nil && !l.OnlyUsers {
			a.MessageFeedsInfo = append(a.MessageFeedsInfo, messageFeedInfo(*feed, preview))
		}
		if preview != nil {
			a.MessagePreviews = append(a.MessagePreviews, l.builder.MessagePreview(c, *preview))
		}
		if mine := l.membership(c.ID); mine != nil && !l.OnlyUsers {
			users = append(users, *mine)
		}
	}
	a.ChannelUsers = l.channelUsers(append(users, l.ChannelUsers...))
	return a
}

// channelUsers converts the memberships in the channels of the response, each once.
func (l *channelLoader) channelUsers(rows []messaging.ChannelUser) []*plazav1.ChannelUser {
	var out []*plazav1.ChannelUser
	for _, u := range unique(rows, func(u messaging.ChannelUser) string { return u.ChannelID + u.UserID }) {
		if c := find(l.Channels, func(c *messaging.Channel) bool { return c.ID == u.ChannelID }); c != nil {
			out = append(out, l.builder.ChannelUser(*c, u, l.mark(u), l.defaultReadTo(u)))
		}
	}
	return out
}

// defaultReadTo returns the last segment that a user without a marker has read. Members get a marker with the first
// message after they joined, and earlier messages count as read.
func (l *channelLoader) defaultReadTo(u messaging.ChannelUser) int64 {
	if feed := l.feed(u.ChannelID); feed != nil && u.IsMember() {
		return feed.LastSegment
	}
	return 0
}

func (l *channelLoader) mark(u messaging.ChannelUser) *messaging.FeedMarker {
	return find(l.marks, func(m *messaging.FeedMarker) bool { return m.FeedID == u.ChannelID && m.UserID == u.UserID })
}

func (l *channelLoader) feed(channelID string) *messaging.MessageFeed {
	return find(l.feeds, func(f *messaging.MessageFeed) bool { return f.ID == channelID })
}

func (l *channelLoader) preview(channelID string) *messaging.Message {
	return find(l.previews, func(m *messaging.Message) bool { return m.ChannelID == channelID })
}

// membership returns the viewer's membership in a channel; nil for administrators.
func (l *channelLoader) membership(channelID string) *messaging.ChannelUser {
	if l.Viewer == nil {
		return nil
	}
	of := func(u *messaging.ChannelUser) bool { return u.ChannelID == channelID && u.UserID == l.Viewer.ID }
	for _, list := range [][]messaging.ChannelUser{l.ChannelUsers, l.mine} {
		if u := find(list, of); u != nil {
			return u
		}
	}
	return &messaging.ChannelUser{ChannelID: channelID, UserID: l.Viewer.ID, UserPublicID: l.Viewer.PublicID}
}

// canRead reports whether the viewer may read the messages of a channel. The messages of deleted channels are not
// readable.
func (l *channelLoader) canRead(channelID string) bool {
	c := find(l.Channels, func(c *messaging.Channel) bool { return c.ID == channelID })
	return c != nil && c.DeletedAt == nil && (l.ViewerReads || l.membership(channelID).IsMember())
}
