package communities

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The types of invitations and of their targets.
const (
	InviteMember = "communityMemberInvite"
	InviteCoHost = "livestreamCohostInvite"

	InviteToCommunity = "community"
	InviteToRoom      = "room"
)

// Invitation is a row of invitations. It is stored in the home of its target. Its statuses are those of a request to
// join.
type Invitation struct {
	ID              string
	Type            string // InviteMember or InviteCoHost
	TargetType      string // InviteToCommunity or InviteToRoom
	TargetID        string
	InvitedID       string // internal id
	InvitedPublicID string
	InviterID       string // internal id; empty for an administrator
	InviterPublicID string
	RespondedAt     *time.Time
	Status          string
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

var invitationColumns = db.Columns[Invitation]()

// invitePendingOf is the condition for the pending invitation of user $3. It contains the user twice for the same
// reason as pendingOf.
const invitePendingOf = `home = $1 AND target_id = $2 AND invited_id = $3 AND pending_slot = 'p:' || $3::text`

var (
	sqlInvitationByID    = db.Register("invitations.byID", `SELECT `+invitationColumns+` FROM invitations WHERE home = $1 AND id = $2`)
	sqlInvitationPending = db.Register("invitations.pending", `SELECT `+invitationColumns+` FROM invitations WHERE `+invitePendingOf)
	sqlInvitationInsert  = db.Register("invitations.insert", `INSERT INTO invitations (home, id, type, target_type, target_id, invited_id,
		invited_public_id,
		inviter_id, inviter_public_id, status, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10, $10)`)
	sqlInvitationAnswer = db.Register("invitations.answer", `WITH answered AS (UPDATE invitations SET status = $3, responded_at = $4, updated_at = $4
		WHERE home = $1 AND id = $2 AND status = 'pending' RETURNING id) SELECT 1 / count(*) FROM answered`)
	sqlInvitationResend = db.Register("invitations.resend", `WITH resent AS (UPDATE invitations SET updated_at = $4
		WHERE home = $1 AND id = $2 AND status = 'pending' AND updated_at = $3::timestamptz RETURNING id) SELECT 1 / count(*) FROM resent`)
	sqlInvitationResolve = db.Register("invitations.resolve", `UPDATE invitations SET status = $4, responded_at = $5, updated_at = $5
		WHERE `+invitePendingOf)
)

// Invitation reads one invitation; nil if there is none.
func (r ReadBatch) Invitation(id string, into **Invitation) {
	r.AddAt(id, sqlInvitationByID, db.Row(into), id)
}

// PendingInvitations reads the pending invitations of users to one target, in no particular order.
func (r ReadBatch) PendingInvitations(targetID string, userIDs []string, into *[]Invitation) {
	*into = nil
	home := r.HomeOrNone(targetID)
	for _, userID := range userIDs {
		core.AppendRows(r.ReadBatch, home, sqlInvitationPending, into, targetID, userID)
	}
}

// InsertInvitation inserts a pending invitation. The transaction fails with duplicate if the user has a pending
// invitation to the target.
func (w Tx) InsertInvitation(i Invitation, duplicate error) {
	w.Exec(sqlInvitationInsert, i.ID, i.Type, i.TargetType, i.TargetID, i.InvitedID, i.InvitedPublicID, i.InviterID, i.InviterPublicID,
		i.CreatedAt).OnConflict("invitations_pending", duplicate)
}

// AnswerInvitation ends a pending invitation. The transaction fails with conflict if it is not pending.
func (w Tx) AnswerInvitation(id, status string, now time.Time, conflict error) {
	w.Guard(sqlInvitationAnswer, conflict, id, status, now)
}

// ResendInvitation records that the invited user was notified again. The transaction fails with conflict if the invitation
// is not pending or not the one that was read.
func (w Tx) ResendInvitation(i Invitation, now time.Time, conflict error) {
	w.Guard(sqlInvitationResend, conflict, i.ID, i.UpdatedAt, now)
}

// resolveInvitation ends the pending invitation of a user, if any, after the membership was decided in another way.
func (w Tx) resolveInvitation(targetID, userID, status string, now time.Time) {
	w.Exec(sqlInvitationResolve, targetID, userID, status, now)
}
