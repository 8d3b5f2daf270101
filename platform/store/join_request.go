package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// The states of a request to join.
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
	ResponderID       string // internal id; empty until answered, and where nobody had to answer
	ResponderPublicID string
	RespondedAt       *time.Time
	Status            string
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

const joinRequestColumns = `community_id, id, requestor_id, requestor_public_id, responder_id, responder_public_id, responded_at,
	status, created_at, updated_at`

func scanJoinRequest(rows pgx.Rows) (JoinRequest, error) {
	var j JoinRequest
	err := rows.Scan(&j.CommunityID, &j.ID, &j.RequestorID, &j.RequestorPublicID, &j.ResponderID, &j.ResponderPublicID,
		&j.RespondedAt, &j.Status, &j.CreatedAt, &j.UpdatedAt)
	return j, err
}

// pendingOf finds the pending request of user $3. It names the user twice, so that either index leads to few rows: by one
// of them alone the database might read through all requests of a great community.
const pendingOf = `home = $1 AND community_id = $2 AND requestor_id = $3 AND pending_slot = 'p:' || $3::text`

var (
	sqlJoinPending = stmt("joinRequests.pending", `SELECT `+joinRequestColumns+` FROM join_requests WHERE `+pendingOf)
	sqlJoinLatest  = stmt("joinRequests.latest", `SELECT `+joinRequestColumns+` FROM join_requests
		WHERE home = $1 AND community_id = $2 AND requestor_id = $3 ORDER BY created_at DESC, id DESC LIMIT 1`)
	sqlJoinInsert = stmt("joinRequests.insert", `INSERT INTO join_requests (home, community_id, id, requestor_id, requestor_public_id,
		responded_at, status, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)`)
	sqlJoinAnswer = stmt("joinRequests.answer", `WITH answered AS (UPDATE join_requests SET status = $4, responder_id = $5,
		responder_public_id = $6, responded_at = $7, updated_at = $7
		WHERE `+pendingOf+` RETURNING id) SELECT 1 / count(*) FROM answered`)
	sqlJoinSettle = stmt("joinRequests.settle", `UPDATE join_requests SET status = $4, responder_id = $5,
		responder_public_id = $6, responded_at = $7, updated_at = $7 WHERE `+pendingOf)
)

// PendingJoinRequest reads a user's pending request; nil where there is none.
func (r *ReadBatch) PendingJoinRequest(communityID, userID string, into **JoinRequest) {
	if home, err := region.HomeOf(communityID); err == nil {
		r.add(home, sqlJoinPending, scanOne(into, scanJoinRequest), communityID, userID)
	}
}

// LatestJoinRequest reads a user's latest request, whatever became of it; nil where there never was one.
func (r *ReadBatch) LatestJoinRequest(communityID, userID string, into **JoinRequest) {
	if home, err := region.HomeOf(communityID); err == nil {
		r.add(home, sqlJoinLatest, scanOne(into, scanJoinRequest), communityID, userID)
	}
}

// InsertJoinRequest inserts a request. A second pending one of the same user makes the transaction fail with duplicate.
func (w *Tx) InsertJoinRequest(j JoinRequest, duplicate error) {
	w.once = "join_requests_pkey"
	w.exec(sqlJoinInsert, j.CommunityID, j.ID, j.RequestorID, j.RequestorPublicID, j.RespondedAt, j.Status, j.CreatedAt).
		conflict("join_requests_pending", duplicate)
}

// JoinAnswer is what becomes of a pending request, and who says so: nobody where the responder is empty.
type JoinAnswer struct {
	Status            string
	ResponderID       string
	ResponderPublicID string
}

// AnswerJoinRequest ends a user's pending request; where there is none the transaction fails with 400400.
func (w *Tx) AnswerJoinRequest(communityID, userID string, a JoinAnswer, now time.Time) {
	w.guard(sqlJoinAnswer, fail.NotFound(), communityID, userID, a.Status, a.ResponderID, a.ResponderPublicID, now)
}

// SettleJoinRequests ends the pending requests that users may have, because their membership was decided otherwise.
func (w *Tx) SettleJoinRequests(communityID string, userIDs []string, a JoinAnswer, now time.Time) {
	for _, userID := range userIDs {
		w.exec(sqlJoinSettle, communityID, userID, a.Status, a.ResponderID, a.ResponderPublicID, now)
	}
}

// JoinRequestList is a page of the requests to one community.
type JoinRequestList struct {
	CommunityID string
	// Statuses keeps those of the statuses; empty keeps all. Each status adds up to Limit rows.
	Statuses []string
	Desc     bool
	// The position after which the page starts.
	AfterTime time.Time
	AfterID   string
	Limit     int
}

// joinRequestLists holds the statements of ListJoinRequests.
var joinRequestLists = makeJoinRequestLists()

func makeJoinRequestLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		head := `SELECT ` + joinRequestColumns + ` FROM join_requests WHERE home = $1 AND community_id = $2 AND ` +
			o.after("created_at", "id", "$3::timestamptz", "$4")
		tail := ` ORDER BY ` + o.by("created_at", "id") + ` LIMIT $5::bigint`
		lists["all"+o.name] = stmt("joinRequests.list.all"+o.name, head+tail)
		lists["status"+o.name] = stmt("joinRequests.list.status"+o.name, head+` AND status = $6`+tail)
	}
	return lists
}

// ListJoinRequests reads requests, status by status: what belongs on the page is among them, in no defined order.
func (r *ReadBatch) ListJoinRequests(l JoinRequestList, into *[]JoinRequest) {
	*into = nil
	home, err := region.HomeOf(l.CommunityID)
	if err != nil {
		return
	}
	order := pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name
	if len(l.Statuses) == 0 {
		r.add(home, joinRequestLists["all"+order], scanAll(into, scanJoinRequest), l.CommunityID, l.AfterTime, l.AfterID, l.Limit)
		return
	}
	for _, status := range l.Statuses {
		part := new([]JoinRequest)
		r.add(home, joinRequestLists["status"+order], scanAll(part, scanJoinRequest), l.CommunityID, l.AfterTime, l.AfterID, l.Limit, status)
		r.Then(func() { *into = append(*into, *part...) })
	}
}
