package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
)

// 20,000 users of home us were invited to one community, and one user of them to 20,000 others; the rest is spread.
// Roles have a few rows a home.
var _ = planned((*collector).collectInvitations,
	`INSERT INTO invitations (home, id, type, target_type, target_id, invited_id, invited_public_id, inviter_id, inviter_public_id, status,
		created_at, updated_at)
		SELECT HOME(n), ID(i, n, n), CASE WHEN n % 2 = 0 THEN 'communityMemberInvite' ELSE 'livestreamCohostInvite' END, 'community', ID(c, n,
		n), ID(u, n, n),
			'user', '', '', CASE n % 4 WHEN 0 THEN 'pending' WHEN 1 THEN 'approved' WHEN 2 THEN 'rejected' ELSE 'cancelled' END, AT(n, 60), AT(n, 60)
		FROM generate_series(1, 20000) AS n`,
	`INSERT INTO invitations (home, id, type, target_type, target_id, invited_id, invited_public_id, inviter_id, inviter_public_id, status,
		created_at, updated_at)
		SELECT 'us', ID(j, n, 3), 'communityMemberInvite', 'community', ID(c, 3, 3), ID(v, n, n),
			'user', '', '', CASE n % 4 WHEN 0 THEN 'pending' WHEN 1 THEN 'approved' WHEN 2 THEN 'rejected' ELSE 'cancelled' END, AT(n, 3), AT(n, 3)
		FROM generate_series(1, 20000) AS n`,
	`INSERT INTO invitations (home, id, type, target_type, target_id, invited_id, invited_public_id, inviter_id, inviter_public_id, status,
		created_at, updated_at)
		SELECT 'us', ID(k, n, 3), CASE WHEN n % 8 < 4 THEN 'communityMemberInvite' ELSE 'livestreamCohostInvite' END, 'community', ID(d, n, n),
		ID(u, 3, 3),
			'user', '', '', CASE n % 4 WHEN 0 THEN 'pending' WHEN 1 THEN 'approved' WHEN 2 THEN 'rejected' ELSE 'cancelled' END, AT(n, 3), AT(n, 3)
		FROM generate_series(1, 20000) AS n`,
)

func (c *collector) collectInvitations() {
	var one *communities.Invitation
	var rows []communities.Invitation
	var roles []network.Role
	id, target := worldID("i", 3, 3), communityID(3)
	c.reads(func(r *store.ReadBatch) { r.Invitation(id, &one) })
	c.reads(func(r *store.ReadBatch) {
		r.PendingInvitations(target, []string{worldID("v", 4, 4), worldID("v", 8, 8)}, &rows)
	})
	c.reads(func(r *store.ReadBatch) { r.CountInvitations(target, nil, new(int32)) })
	c.reads(func(r *store.ReadBatch) { r.CountInvitations(target, []string{communities.JoinPending}, new(int32)) })
	c.reads(func(r *store.ReadBatch) { r.Roles(region.US, &roles) })
	both(20_000*3/2, func(desc bool, at time.Time, after string) {
		for _, l := range []communities.InvitationList{
			{TargetID: target},
			{TargetID: target, Statuses: []string{communities.JoinPending, communities.JoinApproved}},
			{InvitedID: userID(3)},
			{InvitedID: userID(3), Types: []string{communities.InviteMember}},
			{InvitedID: userID(3), Statuses: []string{communities.JoinPending}},
			{InvitedID: userID(3), TargetID: worldID("d", 9, 9)},
			{InvitedID: userID(3), TargetID: worldID("d", 9, 9), Statuses: []string{communities.JoinApproved}},
		} {
			l.Desc, l.After, l.AfterID, l.Limit = desc, at, after, pageRows
			c.reads(func(r *store.ReadBatch) { r.ListInvitations(l, &rows) })
		}
	})
	c.write(func(w *store.Tx) {
		w.InsertInvitation(communities.Invitation{
			ID: region.NewID(region.US), Type: communities.InviteMember, TargetType: communities.InviteToCommunity,
			TargetID: target, InvitedID: worldID("w", 1, 1), CreatedAt: worldStart,
		}, core.ErrConflict)
		w.ResendInvitation(communities.Invitation{ID: worldID("j", 8, 3), UpdatedAt: worldStart.Add(24 * time.Second)}, worldStart,
			core.ErrConflict)
		w.AnswerInvitation(worldID("j", 4, 3), communities.JoinApproved, worldStart, core.ErrConflict)
		w.GuardRoleIDFree("curator", core.ErrConflict)
		w.UpsertRole(network.Role{
			ID: "curator", DisplayName: "Curator", Permissions: []string{"BAN_USER"}, CreatedAt: worldStart,
			UpdatedAt: worldStart, ChangedAt: worldStart, Origin: "us",
		})
	})
}

// 20,000 posts of home us stand on one content; of each kind that a list filters by one in eight.
var _ = planned((*collector).collectPostsOnContent,
	`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, parent_id, is_parent, children,
			feed_type, data_type, structure_type, tags, flaggers, flag_count, has_flagged_comment, created_at, updated_at, edited_at, deleted_at)
		SELECT 'us', ID(o, n, 3), 'content', ID(y, 3, 3), CASE WHEN n % 2 = 0 THEN 'article' ELSE 'article-' || n::text END, ID(u, 3, 3),
		'user-3',
			'', n % 16 <> 2, ARRAY[]::text[], 'published', CASE WHEN n % 16 = 4 THEN 'image' ELSE 'text' END, CASE WHEN n % 16 = 4 THEN 'image'
			ELSE 'text' END,
			CASE WHEN n % 16 = 6 THEN ARRAY['tag'] ELSE ARRAY[]::text[] END, CASE WHEN n % 16 = 8 THEN ARRAY[ID(u, 1, 1)] ELSE ARRAY[]::text[] END,
			CASE WHEN n % 16 = 8 THEN 1 ELSE 0 END, false, AT(n, 3), AT(n, 3), AT(n, 3), CASE WHEN n % 16 = 10 THEN AT(n, 3) END
		FROM generate_series(1, 20000) AS n`,
)

func (c *collector) collectPostsOnContent() {
	var posts []content.Post
	both(20_000*3/2, func(desc bool, at time.Time, id string) {
		for _, byUpdate := range []bool{true, false} {
			for _, l := range postListSamples() {
				l.FeedType, l.Desc, l.ByUpdate, l.After, l.AfterID, l.Limit = "published", desc, byUpdate, at, id, pageRows
				c.reads(func(r *store.ReadBatch) { r.ListPostsOnContent("article", l, &posts) })
			}
		}
	})
}
