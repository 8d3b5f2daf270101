package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// The types of invitations, and what each is to.
const (
	InviteMember = "communityMemberInvite"
	InviteCoHost = "livestreamCohostInvite"

	InviteToCommunity = "community"
	InviteToRoom      = "room"
)

// Invitation is a row of invitations. Its id carries the home of its target. Its states are those of a request to join.
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

const invitationColumns = `id, type, target_type, target_id, invited_id, invited_public_id, inviter_id, inviter_public_id,
	responded_at, status, created_at, updated_at`

func scanInvitation(rows pgx.Rows) (Invitation, error) {
	var i Invitation
	err := rows.Scan(&i.ID, &i.Type, &i.TargetType, &i.TargetID, &i.InvitedID, &i.InvitedPublicID, &i.InviterID, &i.InviterPublicID,
		&i.RespondedAt, &i.Status, &i.CreatedAt, &i.UpdatedAt)
	return i, err
}

// invitePendingOf finds the pending invitation of user $3. It names the user twice, as pendingOf does.
const invitePendingOf = `home = $1 AND target_id = $2 AND invited_id = $3 AND pending_slot = 'p:' || $3::text`

var (
	sqlInvitationByID   = stmt("invitations.byID", `SELECT `+invitationColumns+` FROM invitations WHERE home = $1 AND id = $2`)
	sqlInvitePending    = stmt("invitations.pending", `SELECT `+invitationColumns+` FROM invitations WHERE `+invitePendingOf)
	sqlInvitationInsert = stmt("invitations.insert", `INSERT INTO invitations (home, id, type, target_type, target_id, invited_id, invited_public_id,
		inviter_id, inviter_public_id, status, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10, $10)`)
	sqlInvitationAnswer = stmt("invitations.answer", `WITH answered AS (UPDATE invitations SET status = $3, responded_at = $4, updated_at = $4
		WHERE home = $1 AND id = $2 AND status = 'pending' RETURNING id) SELECT 1 / count(*) FROM answered`)
	sqlInvitesSettle = stmt("invitations.settle", `UPDATE invitations SET status = $4, responded_at = $5, updated_at = $5
		WHERE `+invitePendingOf)
)

// Invitation reads one invitation; nil where there is none.
func (r *ReadBatch) Invitation(id string, into **Invitation) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlInvitationByID, scanOne(into, scanInvitation), id)
	}
}

// PendingInvitations reads the pending invitations of users to one target; their order is not defined.
func (r *ReadBatch) PendingInvitations(targetID string, userIDs []string, into *[]Invitation) {
	*into = nil
	home, err := region.HomeOf(targetID)
	if err != nil {
		return
	}
	for _, userID := range userIDs {
		part := new([]Invitation)
		r.add(home, sqlInvitePending, scanAll(part, scanInvitation), targetID, userID)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// InsertInvitation inserts a pending invitation. Where the user has one to the target already, the transaction fails with
// duplicate.
func (w *Tx) InsertInvitation(i Invitation, duplicate error) {
	w.exec(sqlInvitationInsert, i.ID, i.Type, i.TargetType, i.TargetID, i.InvitedID, i.InvitedPublicID, i.InviterID, i.InviterPublicID,
		i.CreatedAt).conflict("invitations_pending", duplicate)
}

// AnswerInvitation ends a pending invitation; where it is pending no more the transaction fails with changed.
func (w *Tx) AnswerInvitation(id, status string, now time.Time, changed error) {
	w.guard(sqlInvitationAnswer, changed, id, status, now)
}

// settleInvitation ends the pending invitation that a user may have, because their membership was decided otherwise.
func (w *Tx) settleInvitation(targetID, userID, status string, now time.Time) {
	w.exec(sqlInvitesSettle, targetID, userID, status, now)
}
