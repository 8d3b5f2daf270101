package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
)

// sample is a statement as the program sends it. A transaction's statements run in order, those before it included.
type sample struct {
	name   string
	before []db.Queued
	db.Queued
}

// collector gathers samples by calling what the program calls.
type collector struct {
	t     *testing.T
	store *store.Store
	names map[string]string // by text
	all   []sample
}

func newCollector(t *testing.T, s *store.Store) *collector {
	t.Helper()
	c := &collector{t: t, store: s, names: map[string]string{}}
	for _, st := range store.Statements() {
		c.names[st.SQL] = st.Name
	}
	return c
}

func (c *collector) add(before []db.Queued, q db.Queued) {
	name := c.names[q.SQL]
	require.NotEmpty(c.t, name, "not registered: %s", q.SQL)
	c.all = append(c.all, sample{name: name, before: before, Queued: q})
}

// reads collects the statements of a gathering.
func (c *collector) reads(gather func(r *store.ReadBatch)) {
	r := c.store.NewReadBatch()
	gather(r)
	require.False(c.t, r.Empty())
	for _, q := range r.Queued() {
		c.add(nil, q)
	}
}

// write collects the statements of a transaction at the home of the world's big things.
func (c *collector) write(gather func(w *store.Tx)) {
	w := c.store.NewTx(region.US)
	gather(w)
	queued := w.Queued()
	for i, q := range queued {
		c.add(queued[:i], q)
	}
}

// byName collects a statement that the store sends by itself.
func (c *collector) byName(name string, args ...any) {
	for _, st := range store.Statements() {
		if st.Name == name {
			c.add(nil, db.Queued{SQL: st.SQL, Args: args})
			return
		}
	}
	require.Fail(c.t, "no statement "+name)
}

// lastWindows adds the statements of last windows for the samples of the statements of first ones: arguments of the same types.
func (c *collector) lastWindows(names ...string) {
	for _, s := range slices.Clone(c.all) {
		for _, name := range names {
			if order, ok := strings.CutPrefix(s.name, name); ok && strings.HasPrefix(order, "Created") {
				args := slices.Clone(s.Args)
				// Plans are judged by what they read.
				args[slices.IndexFunc(args, func(a any) bool { n, ok := a.(int); return ok && n > pageRows })] = pageRows
				c.byName(name+".last"+order, args...)
			}
		}
	}
}

// windows adds the statements of windows for the samples of the statements of pages: the same arguments and the size.
func (c *collector) windows(names ...string) {
	for _, s := range slices.Clone(c.all) {
		for _, name := range names {
			if order, ok := strings.CutPrefix(s.name, name); ok && (strings.HasSuffix(order, "Desc") || strings.HasSuffix(order, "Asc")) {
				c.byName(name+".window"+order, append(slices.Clone(s.Args), 200)...)
			}
		}
	}
}

// both runs f for both directions of a list, at its start and in the middle of a list of n rows.
func both(n int, f func(desc bool, at time.Time, id string)) {
	for _, desc := range []bool{true, false} {
		start, _, id := page.Cursor{Limit: 20}.Start(desc)
		f(desc, start, id)
		f(desc, worldStart.Add(time.Duration(n)*time.Second), "02")
	}
}

const pageRows = 21 // a page of 20, and one to know whether there is another

// plannedNoun is what a noun adds to the world of the plans, and how the program uses it.
type plannedNoun struct {
	world   []string
	samples func(*collector)
}

var plannedNouns []plannedNoun

// planned registers a noun. A noun with many statements has a file of its own.
func planned(samples func(*collector), world ...string) bool {
	plannedNouns = append(plannedNouns, plannedNoun{world: world, samples: samples})
	return true
}

func (c *collector) collect() []sample {
	c.byName("store.status", "us")
	c.byName("store.version")
	c.byName("schemaVersions.byHome", "us")
	c.byName("schemaVersions.upsert", "us", int64(1))
	c.byName("store.probe", "us")
	c.collectUsers()
	c.collectCommunities()
	c.collectMembers()
	c.collectJoinRequests()
	c.collectPosts()
	c.collectComments()
	c.collectFlags()
	c.collectReactions()
	c.collectSmall()
	for _, noun := range plannedNouns {
		noun.samples(c)
	}
	return c.all
}

func (c *collector) collectUsers() {
	var users []people.User
	var rows []people.UserListRow
	var caller *people.Caller
	c.reads(func(r *store.ReadBatch) { r.Users([]string{userID(3), userID(4), userID(5)}, &users) })
	c.reads(func(r *store.ReadBatch) { r.SomeUserIDs(new([]string)) })
	c.reads(func(r *store.ReadBatch) { r.CreatorOf(communityID(6), &users) })
	c.reads(func(r *store.ReadBatch) { r.UsersByHandle("anna", &users) })
	c.reads(func(r *store.ReadBatch) { r.Caller(userID(3), worldID("s", 3, 3), &caller) })
	both(worldUsers*11/2, func(desc bool, at time.Time, id string) {
		for _, l := range []people.UserList{{}, {Deleted: true}, {Flagged: true}, {Flagged: true, Deleted: true}} {
			l.Desc, l.AfterTime, l.AfterID, l.Limit = desc, at, id, pageRows
			c.reads(func(r *store.ReadBatch) { r.ListUsers(l, &rows) })
		}
	})
	for _, desc := range []bool{false, true} {
		_, key, id := page.Cursor{}.Start(desc)
		for _, prefix := range []string{"", "n", "abc", "abcd"} {
			l := people.UserList{ByName: true, Prefix: prefix, Desc: desc, AfterKey: key, AfterID: id, Limit: pageRows}
			c.reads(func(r *store.ReadBatch) { r.ListUsers(l, &rows) })
		}
	}
	name := "Anna"
	var user *people.User
	c.write(func(w *store.Tx) {
		w.InsertUser(people.User{ID: region.NewID(region.US), PublicID: "anna", DisplayName: name}, worldStart)
		w.GuardNoRoles(userID(3), nil)
		w.UpdateUser(userID(3), people.UserChange{Description: &name, Metadata: []byte(`{"a": 1}`)}, worldStart, &user)
		w.BanUser(userID(3), true, worldStart, &user)
		w.HidePresence(userID(3), true, worldStart, &user)
		w.EndBroadcasts(userID(3), worldStart)
		w.EndBroadcastsIn(userID(3), []string{postID(3), postID(6)}, worldStart)
		w.SelectUser(userID(3), &users)
		w.GuardTarget("user", userID(3), core.ErrConflict)
	})
	c.reads(func(r *store.ReadBatch) { r.SessionRevoked(userID(3), worldID("s", 3, 3), new(bool)) })
	var stored people.Handle
	c.write(func(w *store.Tx) {
		h := people.Handle{UserID: userID(3), ClaimID: "new", ClaimedAt: worldStart}
		w.ClaimHandle([]byte{1}, h, &stored)
		w.TakeOverHandle([]byte{1}, "new", h, &stored)
		w.ReleaseHandle([]byte{1}, "new")
	})
	c.write(func(w *store.Tx) {
		w.InsertSession(people.Session{
			ID: region.NewID(region.US), UserID: userID(3), DeviceHash: []byte{1}, CreatedAt: worldStart,
			ExpiresAt: worldStart,
		})
		w.RevokeSession(userID(3), worldID("s", 3, 3), worldStart)
		w.InsertRevokedSession(userID(3), region.NewID(region.US), worldStart, worldStart)
		w.RevokeSessions(userID(6), worldStart)
		w.TrimSessions(userID(3), "x", 100)
		w.SweepSessions(worldStart.Add(worldUsers*30*time.Second), new(int64))
	})
}

func (c *collector) collectCommunities() {
	var community *communities.Community
	var all []communities.Community
	var rows []communities.CommunityRow
	var keys []communities.CommunityKey
	c.reads(func(r *store.ReadBatch) { r.Community(communityID(3), &community) })
	c.reads(func(r *store.ReadBatch) { r.Communities([]string{communityID(3), communityID(4)}, &all) })
	yes, mine := true, []string{communityID(3), communityID(4), communityID(5), communityID(6), communityID(7), communityID(8)}
	both(worldCommunities*30, func(desc bool, at time.Time, id string) {
		for _, l := range []communities.CommunityList{
			{},
			{Mine: mine},
			{Mine: mine, NotMine: true},
			{Everything: true},
			{Flagged: &yes},
			{Tags: []string{"tag"}},
			{CategoryID: categoryID(bigCategory)},
			{Flagged: &yes, Deleted: true},
			{CategoryID: categoryID(bigCategory), Tags: []string{"tag"}},
		} {
			l.Desc, l.AfterTime, l.AfterID, l.Limit = desc, at, id, pageRows
			c.reads(func(r *store.ReadBatch) { r.ListCommunities(l, &rows) })
		}
	})
	for _, desc := range []bool{true, false} {
		_, key, id := page.Cursor{}.Start(desc)
		for _, l := range []communities.CommunityList{
			{},
			{Prefix: "a"},
			{Prefix: "abc"},
			{Tags: []string{"tag"}},
			{CategoryID: categoryID(bigCategory)},
			{CategoryID: categoryID(bigCategory), Prefix: "abc"},
			{CategoryID: categoryID(bigCategory), Tags: []string{"tag"}},
		} {
			l.ByName, l.Desc, l.AfterKey, l.AfterID, l.Limit = true, desc, key, id, pageRows
			c.reads(func(r *store.ReadBatch) { r.ListCommunities(l, &rows) })
		}
	}
	c.reads(func(r *store.ReadBatch) { r.CommunityKeys(communities.CommunityList{Mine: mine}, &keys) })
	name := "Names"
	c.write(func(w *store.Tx) {
		w.InsertCommunity(communities.Community{
			ID: region.NewID(region.US), DisplayName: name, NotificationMode: "default", Type: "default", Metadata: []byte(`{}`),
			CategoryIDs: []string{categoryID(3)},
		}, core.ErrConflict, worldStart)
		w.UpdateCommunity(communityID(3), communities.CommunityChange{DisplayName: &name, CategoryIDs: []string{categoryID(6)}}, worldStart,
			&community)
		w.DeleteCommunity(communityID(3), worldStart)
	})
	c.write(func(w *store.Tx) { w.SelectCommunity(&communities.Community{ID: communityID(3)}) })
}

// manyUsers returns the ids of n users of home us.
func manyUsers(n int) []string {
	var ids []string
	for i := range n {
		ids = append(ids, userID(3*(i+1)))
	}
	return ids
}

// collectRanking collects what the ranking of communities reads.
func (c *collector) collectRanking() {
	var active []communities.CommunityActivity
	var found []communities.Rankable
	c.reads(func(r *store.ReadBatch) { r.ActivityAt(postTime(worldPosts/2), &active) })
	c.reads(func(r *store.ReadBatch) { r.Rankables([]string{communityID(3), communityID(6), userID(3)}, &found) })
}

func (c *collector) collectMembers() {
	c.collectRanking()
	var member *communities.Member
	var members []communities.Member
	var rows []communities.MemberRow
	var ids []string
	c.reads(func(r *store.ReadBatch) { r.Member(communityID(3), userID(3), &member) })
	c.reads(func(r *store.ReadBatch) { r.Members(communityID(3), []string{userID(3), userID(4)}, &members) })
	c.reads(func(r *store.ReadBatch) { r.Memberships(userID(3), []string{communityID(3), communityID(4)}, &members) })
	c.reads(func(r *store.ReadBatch) { r.CommunitiesOfUser(userID(3), &ids) })
	c.reads(func(r *store.ReadBatch) { r.BansOfUser(userID(3), &ids) })
	for _, n := range []int{1, 4, 16} {
		var of []communities.UserCommunity
		c.reads(func(r *store.ReadBatch) { r.CommunitiesOfUsers(manyUsers(n), 100, &of) })
	}
	both(20_000*11/2, func(desc bool, at time.Time, id string) {
		for _, roles := range [][]string{nil, {"community-moderator"}, {"community-member"}} {
			l := communities.MemberList{
				CommunityID: communityID(bigCommunity), State: communities.StateMember, Roles: roles, Desc: desc, AfterTime: at,
				AfterID: id, Limit: pageRows,
			}
			c.reads(func(r *store.ReadBatch) { r.ListMembers(l, &rows) })
		}
	})
	for _, desc := range []bool{true, false} {
		_, key, id := page.Cursor{}.Start(desc)
		for _, prefix := range []string{"", "u", "user-1"} {
			l := communities.MemberList{
				CommunityID: communityID(bigCommunity), State: communities.StateMember, ByName: true, Prefix: prefix, Desc: desc,
				AfterKey: key, AfterID: id, Limit: pageRows,
			}
			c.reads(func(r *store.ReadBatch) { r.ListMembers(l, &rows) })
		}
	}
	old := communities.Member{
		CommunityID: communityID(3), UserID: userID(3), State: communities.StateMember, Roles: []string{"community-moderator"},
		Version: 1,
	}
	left, joined := old, old
	left.State, joined.UserID = communities.StateLeft, userID(25_000)
	c.write(func(w *store.Tx) {
		w.ChangeMembers(communityID(3), []communities.MemberChange{{Old: &old, New: left}, {New: joined}}, worldStart, worldStart)
		w.GuardModerator(communityID(3), core.ErrConflict)
		w.MirrorMembers([]communities.MirroredMember{{
			UserID: userID(3), CommunityID: communityID(3), State: communities.StateLeft, Version: 7,
			ChangedAt: worldStart,
		}})
	})
}

func (c *collector) collectJoinRequests() {
	var request *communities.JoinRequest
	var requests []communities.JoinRequest
	c.reads(func(r *store.ReadBatch) { r.PendingJoinRequest(communityID(3), userID(600), &request) })
	c.reads(func(r *store.ReadBatch) { r.LatestJoinRequest(communityID(3), userID(600), &request) })
	c.reads(func(r *store.ReadBatch) { r.CountJoinRequests(communityID(3), new(int32)) })
	for _, n := range []int{1, 4, 16} {
		ids := []string{communityID(3)}
		for len(ids) < n {
			ids = append(ids, communityID(3*(len(ids)+1)))
		}
		c.reads(func(r *store.ReadBatch) { r.LatestJoinRequests(ids, userID(600), &requests) })
	}
	both(20_000*11/2, func(desc bool, at time.Time, id string) {
		for _, statuses := range [][]string{nil, {communities.JoinPending}, {communities.JoinPending, communities.JoinApproved}} {
			l := communities.JoinRequestList{
				CommunityID: communityID(3), Statuses: statuses, Desc: desc, AfterTime: at, AfterID: id,
				Limit: pageRows,
			}
			c.reads(func(r *store.ReadBatch) { r.ListJoinRequests(l, &requests) })
		}
	})
	approved := communities.JoinAnswer{Status: communities.JoinApproved, ResponderID: userID(3), ResponderPublicID: "user-3"}
	c.write(func(w *store.Tx) {
		w.InsertJoinRequest(communities.JoinRequest{
			CommunityID: communityID(3), ID: region.NewID(region.US), RequestorID: userID(25_000),
			Status: communities.JoinPending, CreatedAt: worldStart,
		}, core.ErrConflict)
		w.AnswerJoinRequest(communityID(3), userID(600), approved, worldStart)
		w.ResolveJoinRequests(communityID(3), []string{userID(1200), userID(1800)}, approved, worldStart)
	})
}

func (c *collector) collectPosts() {
	var post *content.Post
	var posts []content.Post
	c.reads(func(r *store.ReadBatch) { r.Post(postID(4), &post) })
	c.reads(func(r *store.ReadBatch) { r.PostsByID([]string{postID(4), postID(8), postID(1)}, &posts) })
	c.reads(func(r *store.ReadBatch) { r.PostHeads([]string{postID(4), postID(8), postID(1)}, &posts) })
	c.reads(func(r *store.ReadBatch) { r.PostAlone(postID(4), &post) })
	c.reads(func(r *store.ReadBatch) { r.PostsAlone([]string{postID(4), postID(8), postID(1)}, &posts) })
	c.reads(func(r *store.ReadBatch) { r.PostOfComment(commentID(5), &post) })
	var children []string
	c.reads(func(r *store.ReadBatch) { r.ChildIDs(postID(20), &children) })
	c.reads(func(r *store.ReadBatch) { r.ChildrenOf([]string{postID(4), postID(8), postID(20)}, &posts) })
	both(worldPosts*7/2, func(desc bool, at time.Time, id string) {
		for _, byUpdate := range []bool{true, false} {
			for _, l := range postListSamples() {
				l.TargetID, l.FeedType, l.Desc, l.ByUpdate, l.After, l.AfterID, l.Limit = communityID(bigCommunity), "published", desc, byUpdate, at,
					id, pageRows
				c.reads(func(r *store.ReadBatch) { r.ListPosts(l, &posts) })
			}
		}
	})
	parent := content.Post{
		ID: postID(20), TargetType: "community", TargetID: communityID(3), FeedType: "published", DataType: "text", StructureType: "image",
		IsParent: true, Data: []byte(`{}`), Metadata: []byte(`{}`), Mentionees: []byte(`[]`), CreatedAt: worldStart,
	}
	child, fresh := parent, parent
	child.ID, child.ParentID, child.IsParent, fresh.ID = postID(28), postID(20), false, region.NewID(region.US)
	c.write(func(w *store.Tx) {
		w.GuardTarget("community", communityID(3), core.ErrConflict)
		w.InsertPost(fresh)
		w.SelectPost(fresh.ID, &post)
	})
	c.write(func(w *store.Tx) {
		w.GuardPost(parent, core.ErrConflict)
		w.UpdatePostFeedType(parent, "declined", worldStart)
	})
	c.write(func(w *store.Tx) {
		read := parent
		read.UpdatedAt, read.Children = worldStart.Add(20*7*time.Second), []string{child.ID}
		w.GuardPostUnchanged(read, core.ErrConflict)
		w.UpdatePost(parent, nil, []string{child.ID}, worldStart, false)
	})
	c.write(func(w *store.Tx) {
		w.DeletePost(child, worldStart)
		w.DeletePost(parent, worldStart)
		w.PurgePosts([]string{parent.ID, child.ID})
	})
}

func postListSamples() []content.PostList {
	var all []content.PostList
	for _, flagged := range []core.Flagged{core.FlaggedAny, core.FlaggedOnly, core.FlaggedNone} {
		all = append(all,
			content.PostList{Flagged: flagged, Deleted: core.DeletedNone},
			content.PostList{Flagged: flagged, Deleted: core.DeletedNone, EveryPost: true},
			content.PostList{Flagged: flagged, Deleted: core.DeletedAny},
			content.PostList{Flagged: flagged, Deleted: core.DeletedOnly},
			content.PostList{Flagged: flagged, Deleted: core.DeletedNone, Tags: []string{"tag"}},
			content.PostList{Flagged: flagged, Deleted: core.DeletedNone, EveryPost: true, Tags: []string{"tag"}},
			content.PostList{Flagged: flagged, Deleted: core.DeletedNone, DataTypes: []string{"image", "poll"}, Tags: []string{"tag"}},
			content.PostList{
				Flagged: flagged, Deleted: core.DeletedNone, DataTypes: []string{"image", "video"}, ParentsOnly: true,
				Tags: []string{"tag"},
			},
			content.PostList{Flagged: flagged, Deleted: core.DeletedNone, DataTypes: []string{"image", "poll"}},
			content.PostList{Flagged: flagged, Deleted: core.DeletedNone, DataTypes: []string{"image", "video"}, ParentsOnly: true})
	}
	return all
}

func (c *collector) collectComments() {
	var comment *content.Comment
	var comments []content.Comment
	var ids []string
	c.reads(func(r *store.ReadBatch) { r.Comment(commentID(15), &comment) })
	c.reads(func(r *store.ReadBatch) {
		r.CommentsByID([]string{commentID(15), commentID(30), commentID(1)}, &comments)
	})
	c.reads(func(r *store.ReadBatch) { r.SomeCommentIDs(postID(bigPost), &ids) })
	both(worldComments*3/2, func(desc bool, at time.Time, id string) {
		for _, byUpdate := range []bool{true, false} {
			for _, l := range commentListSamples() {
				l.ReferenceID, l.Desc, l.ByUpdate, l.After, l.AfterID, l.Limit = postID(bigPost), desc, byUpdate, at, id, pageRows
				c.reads(func(r *store.ReadBatch) { r.ListComments(l, &comments) })
			}
		}
	})
	c.windows("comments.listWaiting")
	reply := content.Comment{
		ID: commentID(35), ReferenceType: "post", ReferenceID: postID(bigPost), TargetType: "community", TargetID: communityID(3),
		ParentID: commentID(bigThread),
		Data:     []byte(`{}`), Metadata: []byte(`{}`), Mentionees: []byte(`[]`), Attachments: []byte(`[]`), ApprovalStatus: "approved",
		CreatedAt: worldStart,
	}
	fresh := reply
	fresh.ID = region.NewID(region.US)
	c.write(func(w *store.Tx) {
		w.GuardComment(commentID(bigThread), core.ErrConflict)
		w.InsertComment(fresh)
		w.SelectComment(fresh.ID, &comment)
	})
	waiting := reply
	waiting.ID, waiting.ApprovalStatus = commentID(20), content.Pending
	c.write(func(w *store.Tx) {
		w.GuardCommentStatus(waiting, core.ErrConflict)
		w.ReviewComment(waiting, content.Approved, worldStart)
	})
	c.write(func(w *store.Tx) {
		reply.UpdatedAt = worldStart.Add(35 * 3 * time.Second)
		w.GuardCommentUnchanged(reply, core.ErrConflict)
		w.UpdateComment(reply, worldStart, false)
	})
	c.write(func(w *store.Tx) { w.GuardUnapprovedComments(postID(bigPost), userID(3), core.ErrConflict) })
	c.write(func(w *store.Tx) { w.DeleteComment(reply, worldStart); w.PurgeComments([]string{reply.ID}) })
	c.write(func(w *store.Tx) { w.DeleteCommentsOfPost(postID(postOf(20)), []string{commentID(20), commentID(40)}) })
}

func commentListSamples() []content.CommentList {
	var all []content.CommentList
	for _, flagged := range []core.Flagged{core.FlaggedAny, core.FlaggedOnly, core.FlaggedNone} {
		all = append(all,
			content.CommentList{Flagged: flagged, Deleted: core.DeletedNone},
			content.CommentList{Flagged: flagged, Deleted: core.DeletedNone, EveryState: true},
			content.CommentList{Flagged: flagged, Deleted: core.DeletedNone, EveryLevel: true, ViewerID: userID(3), Status: content.Approved},
			content.CommentList{Flagged: flagged, Deleted: core.DeletedNone, ParentID: commentID(bigThread)},
			content.CommentList{Flagged: flagged, Deleted: core.DeletedNone, EveryLevel: true},
			content.CommentList{Flagged: flagged, Deleted: core.DeletedAny, EveryLevel: true},
			content.CommentList{Flagged: flagged, Deleted: core.DeletedAny},
			content.CommentList{Flagged: flagged, Deleted: core.DeletedAny, ParentID: commentID(bigThread)},
			content.CommentList{Flagged: flagged, Deleted: core.DeletedNone, EveryLevel: true, DataTypes: []string{"image"}},
			content.CommentList{Flagged: flagged, Deleted: core.DeletedNone, DataTypes: []string{"text"}, ExactTypes: true})
	}
	for _, status := range []string{content.Pending, content.Declined} {
		all = append(all,
			content.CommentList{EveryState: true, Status: status, Deleted: core.DeletedNone},
			content.CommentList{EveryState: true, Status: status, Deleted: core.DeletedAny, EveryLevel: true},
			content.CommentList{ViewerID: userID(21), Status: status, Deleted: core.DeletedNone, EveryLevel: true})
	}
	return all
}

func (c *collector) collectFlags() {
	var mine bool
	c.reads(func(r *store.ReadBatch) { r.FlaggedBy(postID(flaggedPost), userID(3), &mine) })
	post := content.Post{ID: postID(flaggedPost), IsParent: true, TargetType: "community", TargetID: communityID(bigCommunity)}
	child := content.Post{ID: postID(28), ParentID: postID(20), TargetType: "community", TargetID: communityID(bigCommunity)}
	comment := content.Comment{
		ID: commentID(flaggedComment), ReferenceID: postID(bigPost), TargetType: "community",
		TargetID: communityID(bigCommunity),
	}
	flag := content.Flag{TargetType: content.FlagPost, TargetID: post.ID, UserID: userID(3), CreatedAt: worldStart}
	var flags []content.Flag
	both(600, func(desc bool, at time.Time, after string) {
		for _, l := range []content.FlagList{{}, {TargetID: postID(flaggedPost)}, {Reason: "Reason 3"}, {TargetType: content.FlagComment}} {
			l.Homes, l.Desc, l.After, l.AfterID, l.Limit = []region.Code{region.US}, desc, at, after, pageRows
			c.reads(func(r *store.ReadBatch) { r.ListFlags(l, &flags) })
		}
	})
	c.write(func(w *store.Tx) {
		w.GuardFlagLimit(flag, 100, core.ErrConflict)
		w.InsertFlag(flag, post.TargetID)
		w.RaisePostFlags(post)
		w.DeleteFlag(post.ID, userID(6), worldStart)
		w.ClearFlags(post.ID, content.FlagResolution{At: worldStart})
		w.RecomputePostFlags(child)
	})
	c.write(func(w *store.Tx) {
		w.RaisePostFlags(child)
		w.RaiseCommentFlags(comment)
	})
	c.write(func(w *store.Tx) {
		w.ClearFlags(comment.ID, content.FlagResolution{At: worldStart})
		w.RecomputeCommentFlags(comment)
	})
	c.write(func(w *store.Tx) {
		w.ClearFlags(userID(3), content.FlagResolution{At: worldStart})
		w.RecomputeUserFlags(userID(3))
	})
}

func (c *collector) collectReactions() {
	var reactions []content.Reaction
	c.reads(func(r *store.ReadBatch) {
		r.ReactionsOf(region.US, []string{postID(4), postID(8)}, userID(3), &reactions)
	})
	both(10_000*3/2, func(desc bool, at time.Time, id string) {
		for _, name := range []string{"", "love"} {
			l := content.ReactionList{ReferenceID: postID(bigPost), Name: name, Desc: desc, After: at, AfterID: id, Limit: pageRows}
			c.reads(func(r *store.ReadBatch) { r.ListReactions(l, &reactions) })
		}
	})
	mine := content.Reaction{
		ReferenceType: "post", ReferenceID: postID(8), UserID: userID(3), Name: "like", ID: region.NewID(region.US),
		CreatedAt: worldStart,
	}
	c.write(func(w *store.Tx) {
		w.GuardReactionNames(mine.ReferenceID, 100, core.ErrConflict)
		w.InsertReaction(mine, core.ErrConflict)
		w.DeleteReaction(mine, core.ErrConflict)
	})
}

func (c *collector) collectSmall() {
	var entries []people.DirectoryEntry
	var settings network.Settings
	var categories []communities.Category
	var category *communities.Category
	renamed := "Music"
	hash := []byte(strings.Repeat("h", 32))
	c.reads(func(r *store.ReadBatch) { r.Directory(region.US, [][]byte{hash, {1, 2}}, &entries) })
	c.reads(func(r *store.ReadBatch) { r.Settings(region.US, &settings) })
	c.reads(func(r *store.ReadBatch) { r.Categories([]string{categoryID(3), categoryID(4)}, &categories) })
	c.reads(func(r *store.ReadBatch) { r.CategoriesOfCommunity(communityID(6), &categories) })
	c.reads(func(r *store.ReadBatch) {
		r.Counts(region.US, []string{communityID(3), postID(4), postID(8)}, core.Counts{})
	})
	both(worldCommunities*30, func(desc bool, at time.Time, id string) {
		l := communities.CategoryList{Desc: desc, AfterTime: at, AfterID: id, Limit: pageRows}
		c.reads(func(r *store.ReadBatch) { r.ListCategories(l, &categories) })
	})
	for _, desc := range []bool{true, false} {
		_, key, id := page.Cursor{}.Start(desc)
		c.reads(func(r *store.ReadBatch) {
			r.ListCategories(communities.CategoryList{ByName: true, Desc: desc, AfterKey: key, AfterID: id, Limit: pageRows}, &categories)
		})
	}
	c.write(func(w *store.Tx) {
		w.InsertDirectoryEntry(people.DirectoryEntry{Hash: hash, UserID: userID(3)}, worldStart, &entries)
		w.UpsertDirectoryCopy(people.DirectoryEntry{Hash: hash, UserID: userID(3)}, worldStart)
		w.InsertCategory(communities.Category{ID: region.NewID(region.US), Name: "News", Metadata: []byte(`{}`)}, worldStart)
		w.UpdateCategory(categoryID(3), communities.CategoryChange{Name: &renamed, Metadata: []byte(`{}`)}, worldStart, &category)
		w.DeleteCategory(categoryID(3), worldStart)
		w.InsertSetting(network.SettingRow{Name: "flagLimit", Value: []byte(`7`), ChangedAt: worldStart, Origin: "us"})
		w.UpsertSetting(network.SettingRow{Name: "flagLimit", Value: []byte(`7`), ChangedAt: worldStart, Origin: "us"})
		w.SelectSettings(&settings)
		w.Count(communityID(3), core.CountMembers, 1)
		w.Emit("test", "payload", worldStart, worldStart)
	})
	c.byName("outbox.due4", "us", worldStart.Add(-time.Hour), worldStart.Add(time.Hour), int64(0), int64(1), int64(2), int64(-1))
	for _, n := range []int{1, 4, 16} {
		args := []any{int64(100)}
		for i := range n {
			args = append(args, worldID("p", i, i))
		}
		c.byName(fmt.Sprintf("outbox.ofKeys%d", n), append([]any{"us"}, args...)...)
	}
	c.byName("outbox.delete", "us", int64(0), worldStart, worldID("o", 12, 12))
	c.byName("outbox.delay", "us", int64(0), worldStart, worldID("o", 12, 12), int64(1), worldStart)
}

// eachSizes are numbers of values for which statements of all sizes are used.
var eachSizes = []int{1, 3, 16, 18}

// repeated returns n values, in which those given repeat.
func repeated[V any](n int, values ...V) []V { return slices.Repeat(values, n)[:n] }
