package communities

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// InvitationList is a page of the invitations to one target or of one invited user.
type InvitationList struct {
	// TargetID filters by community or room.
	TargetID string
	// InvitedID, an internal id, filters by invited user; empty means all.
	InvitedID string
	// Types and Statuses filter by type and status; empty means all.
	Types, Statuses []string
	Desc            bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// The values of a filter that is absent while the other one is given.
var (
	allInvites      = []string{InviteMember, InviteCoHost}
	allInviteStates = []string{JoinPending, JoinApproved, JoinRejected, JoinCancelled}
)

// The statements of ListInvitations.
var (
	invitationsByTarget       = invitationList("target", "target_id", ``)
	invitationsByTargetStatus = invitationList("targetStatus", "target_id", ` AND status = $6`)
	invitationsByUser         = invitationList("mine", "invited_id", ``)
	invitationsByUserKind     = invitationList("mineKind", "invited_id", ` AND type = $6 AND status = $7`)
	invitationsByUserTarget   = invitationList("mineTarget", "invited_id", ` AND target_id = $6 AND (cardinality($7::text[]) = 0
		OR status = ANY($7::text[]))`)
)

func invitationList(name, column, filter string) core.Directions {
	return core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
		Name: "invitations.list." + name, Columns: invitationColumns,
		From: `invitations WHERE home = $1 AND ` + column + ` = $2`, Filter: filter, After: 3,
	}.List)
}

// ListInvitations reads up to Limit invitations of each home and filter, in no particular order. They include the
// invitations of the page.
func (r ReadBatch) ListInvitations(l InvitationList, into *[]Invitation) {
	*into = nil
	read := func(homes []region.Code, list core.Directions, of string, filter ...any) {
		for _, home := range homes {
			core.AppendRows(r.ReadBatch, home, list.In(l.Desc), into, append([]any{of, l.After, l.AfterID, l.Limit}, filter...)...)
		}
	}
	target := []region.Code{r.HomeOrNone(l.TargetID)}
	switch {
	case l.InvitedID == "" && len(l.Statuses) == 0:
		read(target, invitationsByTarget, l.TargetID)
	case l.InvitedID == "":
		for _, status := range l.Statuses {
			read(target, invitationsByTargetStatus, l.TargetID, status)
		}
	case l.TargetID != "":
		read(target, invitationsByUserTarget, l.InvitedID, l.TargetID, core.EmptyIfNil(l.Statuses))
	case len(l.Types)+len(l.Statuses) == 0:
		read(region.All(), invitationsByUser, l.InvitedID)
	default:
		for _, kind := range core.OrAll(l.Types, allInvites) {
			for _, status := range core.OrAll(l.Statuses, allInviteStates) {
				read(region.All(), invitationsByUserKind, l.InvitedID, kind, status)
			}
		}
	}
}

// maxCounted is how many rows a count reads at most.
const maxCounted = 10_000

var sqlInvitationCount = db.Register("invitations.count", `SELECT count(*) FROM (SELECT 1 FROM invitations WHERE home = $1 AND target_id = $2
	AND status = ANY($3::text[]) LIMIT $4::bigint) AS counted`)

// CountInvitations counts up to 10,000 invitations to a target; empty statuses mean all.
func (r ReadBatch) CountInvitations(targetID string, statuses []string, into *int32) {
	r.AddAt(targetID, sqlInvitationCount, db.Value(into), targetID, core.OrAll(statuses, allInviteStates), maxCounted)
}
