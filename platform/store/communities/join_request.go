package communities

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The statuses of a request to join.
const (
	JoinPending   = "pending"
	JoinApproved  = "approved"
	JoinRejected  = "rejected"
	JoinCancelled = "cancelled"
)

// JoinRequest is a row of join_requests.
type JoinRequest struct {
	CommunityID       string
	ID                string
	RequestorID       string // internal id
	RequestorPublicID string
	ResponderID       string // internal id; empty until answered and for automatic decisions
	ResponderPublicID string
	RespondedAt       *time.Time
	Status            string
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

var joinRequestColumns = db.Columns[JoinRequest]()

// pendingOf is the condition for the pending request of user $3. It contains the user twice, so that either index is
// selective: with one of the conditions the database might read all requests of a large community.
const pendingOf = `home = $1 AND community_id = $2 AND requestor_id = $3 AND pending_slot = 'p:' || $3::text`

var (
	sqlJoinPending = db.Register("joinRequests.pending", `SELECT `+joinRequestColumns+` FROM join_requests WHERE `+pendingOf)
	sqlJoinLatest  = db.Register("joinRequests.latest", `SELECT `+joinRequestColumns+` FROM join_requests
		WHERE home = $1 AND community_id = $2 AND requestor_id = $3 ORDER BY created_at DESC, id DESC LIMIT 1`)
	sqlJoinCount = db.Register("joinRequests.count", `SELECT count(*) FROM (SELECT 1 FROM join_requests WHERE home = $1 AND community_id = $2
		AND status = 'pending' LIMIT $3::bigint) AS counted`)
	sqlJoinInsert = db.Register("joinRequests.insert", `INSERT INTO join_requests (home, community_id, id, requestor_id, requestor_public_id,
		responded_at, status, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)`)
	sqlJoinAnswer = db.Register("joinRequests.answer", `WITH answered AS (UPDATE join_requests SET status = $4, responder_id = $5,
		responder_public_id = $6, responded_at = $7, updated_at = $7
		WHERE `+pendingOf+` RETURNING id) SELECT 1 / count(*) FROM answered`)
	sqlJoinResolve = db.Register("joinRequests.resolve", `UPDATE join_requests SET status = $4, responder_id = $5,
		responder_public_id = $6, responded_at = $7, updated_at = $7 WHERE `+pendingOf)
)

// PendingJoinRequest reads a user's pending request; nil if there is none.
func (r ReadBatch) PendingJoinRequest(communityID, userID string, into **JoinRequest) {
	r.AddAt(communityID, sqlJoinPending, db.Row(into), communityID, userID)
}

// joinLatestOf are sqlJoinLatest for several communities.
var joinLatestOf = core.ForEach("joinRequests.latestOf", 1, "", `SELECT `+joinRequestColumns+` FROM join_requests
	WHERE home = $1 AND community_id = {value} AND requestor_id = $2 ORDER BY created_at DESC, id DESC LIMIT 1`, "")

// LatestJoinRequests reads a user's latest request to each of some communities, in no particular order.
func (r ReadBatch) LatestJoinRequests(communityIDs []string, userID string, into *[]JoinRequest) {
	*into = nil
	core.ReadEach(r.ReadBatch, communityIDs, joinLatestOf, into, userID)
}

// LatestJoinRequest reads a user's latest request, in any status; nil if there never was one.
func (r ReadBatch) LatestJoinRequest(communityID, userID string, into **JoinRequest) {
	r.AddAt(communityID, sqlJoinLatest, db.Row(into), communityID, userID)
}

// CountJoinRequests counts up to 10,000 pending requests to a community.
func (r ReadBatch) CountJoinRequests(communityID string, into *int32) {
	r.AddAt(communityID, sqlJoinCount, db.Value(into), communityID, maxCounted)
}

// InsertJoinRequest inserts a request. The transaction fails with duplicate if the user has a pending one.
func (w Tx) InsertJoinRequest(j JoinRequest, duplicate error) {
	w.IdempotentBy("join_requests_pkey")
	w.Exec(sqlJoinInsert, j.CommunityID, j.ID, j.RequestorID, j.RequestorPublicID, j.RespondedAt, j.Status, j.CreatedAt).
		OnConflict("join_requests_pending", duplicate)
}

// JoinAnswer is the new status of a pending request and the user who decided; the responder is empty for automatic
// decisions.
type JoinAnswer struct {
	Status            string
	ResponderID       string
	ResponderPublicID string
}

// AnswerJoinRequest ends a user's pending request. The transaction fails with 400400 if there is none.
func (w Tx) AnswerJoinRequest(communityID, userID string, a JoinAnswer, now time.Time) {
	w.Guard(sqlJoinAnswer, fail.NotFound(), communityID, userID, a.Status, a.ResponderID, a.ResponderPublicID, now)
}

// ResolveJoinRequests ends the pending requests of users, if any, after their membership was decided in another way.
func (w Tx) ResolveJoinRequests(communityID string, userIDs []string, a JoinAnswer, now time.Time) {
	for _, userID := range slices.Sorted(slices.Values(userIDs)) {
		w.Exec(sqlJoinResolve, communityID, userID, a.Status, a.ResponderID, a.ResponderPublicID, now)
	}
}

// JoinRequestList is a page of the requests to one community.
type JoinRequestList struct {
	CommunityID string
	// Statuses filters by status; empty means all. Up to Limit rows are read for each.
	Statuses []string
	Desc     bool
	// The position that the page starts after.
	AfterTime time.Time
	AfterID   string
	Limit     int
}

// The statements of ListJoinRequests.
var (
	joinRequestsByCreation       = joinRequestList("all", ``)
	joinRequestsByStatusCreation = joinRequestList("status", ` AND status = $6`)
)

func joinRequestList(name, filter string) core.Directions {
	return core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
		Name: "joinRequests.list." + name, Columns: joinRequestColumns,
		From: `join_requests WHERE home = $1 AND community_id = $2`, Filter: filter, After: 3,
	}.List)
}

// ListJoinRequests reads requests status by status, in no particular order. They include the requests of the page.
func (r ReadBatch) ListJoinRequests(l JoinRequestList, into *[]JoinRequest) {
	*into = nil
	home := r.HomeOrNone(l.CommunityID)
	if len(l.Statuses) == 0 {
		r.Add(home, joinRequestsByCreation.In(l.Desc), db.Rows(into), l.CommunityID, l.AfterTime, l.AfterID, l.Limit)
		return
	}
	for _, status := range l.Statuses {
		core.AppendRows(r.ReadBatch, home, joinRequestsByStatusCreation.In(l.Desc), into, l.CommunityID, l.AfterTime, l.AfterID, l.Limit, status)
	}
}
