package fileaccess

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
)

// world is a database with an object of each kind in a community of the reader's and in one that is private, for the files of objects.
type world struct {
	*servicetest.World
	reader, author string
	caller         *auth.Caller
	seen, unseen   map[string]string // ids of objects by kind
	table          map[string]string // of objects by kind
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		World: servicetest.NewWorld(t), reader: region.NewID(region.EU), author: region.NewID(region.EU),
		table: map[string]string{
			core.UsePost: "posts", core.UseStory: "stories", core.UseComment: "comments", core.UseMessage: "messages", core.UsePoll: "polls",
			core.UseRoom: "rooms", core.UseStream: "video_streams", core.UseEvent: "planned_events",
		},
	}
	w.caller = servicetest.User(t, w.reader)
	w.seen, w.unseen = w.insertObjects(t, w.reader), w.insertObjects(t)
	return w
}

// insertObjects inserts an object of each kind in a private community and a private channel with members.
func (w *world) insertObjects(t *testing.T, members ...string) map[string]string {
	t.Helper()
	community := w.AddCommunity(t, false, members...)
	post, story := servicetest.NewPost("community", community, w.author), servicetest.NewStory("community", community, w.author)
	comment := servicetest.NewComment(content.ReferencePost, post.ID, "community", community, w.author)
	poll := content.Poll{ID: region.NewID(region.EU), CreatorID: w.author, AnswerType: "single", CreatedAt: servicetest.Noon}
	room := media.Room{
		ID: region.NewID(region.EU), CreatorID: w.author, Type: "coHosts", Status: "idle", Metadata: []byte(`{}`),
		CreatedAt: servicetest.Noon,
	}
	stream := media.VideoStream{
		ID: region.NewID(region.EU), CreatorID: w.author, Status: "idle", Resolution: "SD", Metadata: []byte(`{}`),
		CreatedAt: servicetest.Noon,
	}
	event := content.PlannedEvent{
		ID: region.NewID(region.EU), CreatorID: w.author, Type: "virtual", StartTime: servicetest.Noon, EndTime: servicetest.Noon.Add(time.Hour),
		OriginType: "community", OriginID: community, Metadata: []byte(`{}`), CreatedAt: servicetest.Noon,
	}
	w.Commit(t, func(tx *store.Tx) {
		tx.InsertPost(post)
		tx.InsertStory(story)
		tx.InsertComment(comment)
		tx.InsertPoll(poll)
		tx.InsertRoom(room, fail.NotFound())
		tx.InsertVideoStream(stream, fail.NotFound())
		tx.InsertPlannedEvent(event)
	})
	for table, id := range map[string]string{"polls": poll.ID, "rooms": room.ID, "video_streams": stream.ID} {
		w.Exec(t, fmt.Sprintf(`UPDATE %s SET post_id = '%s' WHERE id = '%s'`, table, post.ID, id))
	}
	return map[string]string{
		core.UsePost: post.ID, core.UseStory: story.ID, core.UseComment: comment.ID, core.UsePoll: poll.ID, core.UseRoom: room.ID,
		core.UseStream: stream.ID, core.UseEvent: event.ID, core.UseMessage: w.insertMessage(t, w.insertChannel(t, members...)),
	}
}

// insertChannel inserts a private channel with members, and returns its id.
func (w *world) insertChannel(t *testing.T, members ...string) string {
	t.Helper()
	c := messaging.Channel{
		Type: messaging.ChannelCommunity, ID: region.NewID(region.EU), Metadata: []byte(`{}`), NotificationMode: "default",
		CreatedAt: servicetest.Noon,
	}
	c.PublicID = c.ID
	var users []messaging.ChannelUserChange
	for _, id := range members {
		users = append(users, chat.Join(c.ID, id, id, nil, chat.MemberRoles(), servicetest.Noon))
	}
	w.Commit(t, func(tx *store.Tx) { chat.InsertChannel(tx, c, users, core.ErrConflict) })
	return c.ID
}

// insertMessage inserts a message of the author in a channel, and returns its id.
func (w *world) insertMessage(t *testing.T, channelID string) string {
	t.Helper()
	m := messaging.Message{
		ID: region.NewID(region.EU), FeedID: channelID, ChannelID: channelID, ChannelPublicID: channelID, ChannelType: messaging.ChannelCommunity,
		CreatorID: w.author, DataType: "text", Data: []byte(`{"text":"message"}`), Metadata: []byte(`{}`), Mentions: []byte(`[]`),
		CreatedAt: servicetest.Noon,
	}
	m.ReferenceID = m.ID
	w.Commit(t, func(tx *store.Tx) {
		var inserted []messaging.Message
		tx.InsertMessages([]messaging.Message{m}, fail.NotFound(), core.ErrConflict, &inserted)
	})
	return m.ID
}

// insertFile returns a file to which objects of a kind refer.
func (w *world) insertFile(t *testing.T, kind string, objectIDs ...string) media.File {
	t.Helper()
	f := media.File{ID: region.NewID(region.EU), OwnerID: w.author, AccessType: media.AccessPublic}
	w.use(t, f, kind, objectIDs...)
	return f
}

func (w *world) use(t *testing.T, f media.File, kind string, objectIDs ...string) {
	t.Helper()
	for _, id := range objectIDs {
		w.Exec(t,
			fmt.Sprintf(`INSERT INTO file_uses (home, object_id, kind, author_id, place_id, file_id) VALUES ('eu', '%s', '%s', '', '', '%s')`, id,
				kind, f.ID))
	}
}

// set changes a column of an object.
func (w *world) set(t *testing.T, kind, id, assignment string) {
	t.Helper()
	w.Exec(t, fmt.Sprintf(`UPDATE %s SET %s WHERE id = '%s'`, w.table[kind], assignment, id))
}

func (w *world) read(t *testing.T, f media.File) fail.Code {
	t.Helper()
	return servicetest.CodeOf(RequireRead(t.Context(), w.Deps, w.caller, f))
}

func (w *world) readObject(t *testing.T, kind, id string) fail.Code {
	t.Helper()
	return servicetest.CodeOf(RequireObject(t.Context(), w.Deps, w.caller, view.FileObject{Kind: kind, ID: id}))
}

// TestObjects reads the files of objects of each kind: those of objects that the reader may see, and of no others.
func TestObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for kind, id := range w.seen {
		require.Zero(t, w.readObject(t, kind, id), kind)
		require.Zero(t, w.read(t, w.insertFile(t, kind, region.NewID(region.EU), id)), "by the id of a file: %s", kind)
		require.NotZero(t, w.readObject(t, kind, w.unseen[kind]), "unseen: %s", kind)
		require.Equal(t, fail.CodeForbidden, w.read(t, w.insertFile(t, kind, w.unseen[kind])), "by the id of a file, unseen: %s", kind)
		require.Equal(t, fail.CodeNotFound, w.readObject(t, kind, region.NewID(region.EU)), "unknown: %s", kind)
	}
	for kind, id := range w.seen {
		f := w.insertFile(t, kind, id)
		w.set(t, kind, id, "deleted_at = now()")
		require.Equal(t, fail.CodeNotFound, w.readObject(t, kind, id), "deleted: %s", kind)
		require.Equal(t, fail.CodeForbidden, w.read(t, f), "by the id of a file, deleted: %s", kind)
	}
	require.Zero(t, w.readObject(t, view.FileAvatar, ""))
	require.Equal(t, fail.CodeNotFound, w.readObject(t, core.UseScheduledPost, w.seen[core.UsePost]), "scheduled posts are their author's")
}

// TestUnattachedObjects checks that everyone sees polls, rooms and streams that are in no post.
func TestUnattachedObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range []string{core.UsePoll, core.UseRoom, core.UseStream} {
		w.set(t, kind, w.unseen[kind], "post_id = ''")
		require.Zero(t, w.readObject(t, kind, w.unseen[kind]), kind)
	}
}

// TestFilesOfMessages checks which messages in the reader's channel count.
func TestFilesOfMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hidden := w.insertMessage(t, w.insertChannel(t, w.reader))
	w.set(t, core.UseMessage, hidden, "hidden_at = now()")
	require.Equal(t, fail.CodeNotFound, w.readObject(t, core.UseMessage, hidden), "hidden by flags")
	w.set(t, core.UseMessage, hidden, fmt.Sprintf("creator_id = '%s'", w.reader))
	require.Zero(t, w.readObject(t, core.UseMessage, hidden), "hidden, of the reader")

	channel := w.insertChannel(t, w.reader)
	inDeleted := w.insertMessage(t, channel)
	w.Exec(t, fmt.Sprintf(`UPDATE message_feeds SET deleted_at = now() WHERE id = '%s'`, channel))
	require.Equal(t, fail.CodeNotFound, w.readObject(t, core.UseMessage, inDeleted), "in a deleted subchannel")

	deleted := w.insertMessage(t, w.insertChannel(t, w.reader))
	w.set(t, core.UseMessage, deleted, "deleted_at = now()")
	f := w.insertFile(t, core.UseMessage, w.unseen[core.UseMessage], deleted)
	require.Equal(t, fail.CodeForbidden, w.read(t, f), "a deleted message and one of a channel of others")
	w.use(t, f, core.UseMessage, w.seen[core.UseMessage])
	require.Zero(t, w.read(t, f), "and one that the reader may read")

	both := w.insertFile(t, core.UsePost, w.seen[core.UsePost])
	w.use(t, both, core.UseMessage, w.unseen[core.UseMessage])
	require.Zero(t, w.read(t, both), "a post that the reader may see, and a message in a channel of others")
}

// TestUploader checks that uploaders and administrators read files that no object refers to, and that others read avatars only.
func TestUploader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.insertFile(t, "")
	require.Equal(t, fail.CodeForbidden, w.read(t, f))
	require.NoError(t, RequireRead(t.Context(), w.Deps, servicetest.User(t, w.author), f))
	require.NoError(t, RequireRead(t.Context(), w.Deps, servicetest.Admin(), f))
	for _, kind := range []string{core.UseUser, core.UseCommunity, core.UseCategory, core.UseChannel} {
		require.Zero(t, w.read(t, w.insertFile(t, kind, region.NewID(region.EU))), "avatar of a %s", kind)
	}
	for _, kind := range []string{core.UsePendingEdit, core.UseScheduledPost} {
		require.Equal(t, fail.CodeForbidden, w.read(t, w.insertFile(t, kind, w.seen[core.UsePost])), kind)
	}
}

// TestManyUses checks that of the objects that are decided about one by one, only the first count.
func TestManyUses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.insertFile(t, core.UseStory, w.seen[core.UseStory])
	for range maxSingle - 1 {
		w.use(t, f, core.UseComment, region.NewID(region.EU))
	}
	require.Zero(t, w.read(t, f), "the last one that counts")
	w.use(t, f, core.UseComment, region.NewID(region.EU))
	require.Equal(t, fail.CodeForbidden, w.read(t, f), "one more")

	f = w.insertFile(t, core.UsePost, w.seen[core.UsePost])
	for n := range maxUses - 1 {
		w.use(t, f, core.UsePendingEdit, fmt.Sprintf("%04d", n)) // before all ids
	}
	require.Zero(t, w.read(t, f), "the last use that is read")
	w.use(t, f, core.UsePendingEdit, "0")
	require.Equal(t, fail.CodeForbidden, w.read(t, f), "one more use")
}

// TestPublicFiles checks which files with the access type public everyone may read by their id.
func TestPublicFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open, closed, gone := w.AddCommunity(t, true), w.AddCommunity(t, false), w.AddCommunity(t, true)
	w.Exec(t, fmt.Sprintf(`UPDATE communities SET deleted_at = now() WHERE id = '%s'`, gone))
	insertPost := func(kind, target, feedType string) string {
		p := servicetest.NewPost(kind, target, w.author)
		p.FeedType = feedType
		w.Commit(t, func(tx *store.Tx) { tx.InsertPost(p) })
		return p.ID
	}
	deleted := insertPost("community", open, "published")
	w.set(t, core.UsePost, deleted, "deleted_at = now()")
	for name, test := range map[string]struct {
		file media.File
		want bool
	}{
		"avatar":                        {w.insertFile(t, core.UseUser, w.author), true},
		"post of a public community":    {w.insertFile(t, core.UsePost, insertPost("community", open, "published")), true},
		"post of a private community":   {w.insertFile(t, core.UsePost, insertPost("community", closed, "published")), false},
		"post of a deleted community":   {w.insertFile(t, core.UsePost, insertPost("community", gone, "published")), false},
		"post that waits":               {w.insertFile(t, core.UsePost, insertPost("community", open, "reviewing")), false},
		"deleted post":                  {w.insertFile(t, core.UsePost, deleted), false},
		"post on a wall with the id":    {w.insertFile(t, core.UsePost, insertPost("user", open, "published")), false},
		"comment with the id of a post": {w.insertFile(t, core.UseComment, insertPost("community", open, "published")), false},
		"nothing":                       {w.insertFile(t, ""), false},
		"one private and one public of two": {w.insertFile(t, core.UsePost, w.unseen[core.UsePost],
			insertPost("community", open, "published")), true},
	} {
		got, err := IsPublic(t.Context(), w.Deps, test.file)
		require.NoError(t, err, name)
		require.Equal(t, test.want, got, name)
		test.file.AccessType = media.AccessNetwork
		got, err = IsPublic(t.Context(), w.Deps, test.file)
		require.NoError(t, err, name)
		require.False(t, got, "another access type: %s", name)
	}
}

// TestFailedDecisions checks that a decision that fails is no refusal and no permission.
func TestFailedDecisions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for kind, id := range w.seen {
		err := RequireObject(ctx, w.Deps, w.caller, view.FileObject{Kind: kind, ID: id})
		require.Error(t, err, kind)
		require.False(t, IsRefusal(err), kind)
	}
	f := w.insertFile(t, core.UsePost, w.seen[core.UsePost])
	require.False(t, IsRefusal(RequireRead(ctx, w.Deps, w.caller, f)))
	public, err := IsPublic(ctx, w.Deps, f)
	require.Error(t, err)
	require.False(t, public)
	for _, err := range []error{fail.NotFound(), fail.NotAllowed(), fail.PermissionDenied(), fail.Banned()} {
		require.True(t, IsRefusal(err), err)
	}
}
