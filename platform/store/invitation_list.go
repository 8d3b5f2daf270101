package store

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// InvitationList is a page of invitations: of one target, or of one invited user.
type InvitationList struct {
	// TargetID keeps those to one community or room.
	TargetID string
	// InvitedID keeps those of one user, internal id; empty lists all those of the target.
	InvitedID string
	// Types and Statuses keep those of any of them; empty keep all.
	Types, Statuses []string
	Desc            bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// allInvites and allInviteStates stand in for an absent filter where the other one is there.
var (
	allInvites      = []string{InviteMember, InviteCoHost}
	allInviteStates = []string{JoinPending, JoinApproved, JoinRejected, JoinCancelled}
)

// invitationLists holds the statements of ListInvitations.
var invitationLists = makeInvitationLists()

func makeInvitationLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		list := func(name, of, more string) {
			lists[name+o.name] = stmt("invitations.list."+name+o.name, `SELECT `+invitationColumns+` FROM invitations WHERE home = $1 AND `+of+` = $2 AND `+
				o.after("created_at", "id", "$3::timestamptz", "$4")+more+` ORDER BY `+o.by("created_at", "id")+` LIMIT $5::bigint`)
		}
		list("target", "target_id", ``)
		list("targetStatus", "target_id", ` AND status = $6`)
		list("mine", "invited_id", ``)
		list("mineKind", "invited_id", ` AND type = $6 AND status = $7`)
		list("mineTarget", "invited_id", ` AND target_id = $6 AND (cardinality($7::text[]) = 0 OR status = ANY($7::text[]))`)
	}
	return lists
}

// ListInvitations reads up to Limit invitations of each home and filter: what belongs on the page is among them, in no defined
// order.
func (r *ReadBatch) ListInvitations(l InvitationList, into *[]Invitation) {
	*into = nil
	switch home, err := region.HomeOf(l.TargetID); {
	case l.InvitedID == "" && err == nil:
		r.listInvitesTo(home, l, into)
	case l.InvitedID != "" && l.TargetID != "" && err == nil:
		r.invites(home, "mineTarget", l, l.InvitedID, into, l.TargetID, texts(l.Statuses))
	case l.InvitedID != "" && l.TargetID == "":
		for _, home := range region.All() {
			r.listInvitesOf(home, l, into)
		}
	}
}

func (r *ReadBatch) listInvitesTo(home region.Code, l InvitationList, into *[]Invitation) {
	if len(l.Statuses) == 0 {
		r.invites(home, "target", l, l.TargetID, into)
	}
	for _, status := range l.Statuses {
		r.invites(home, "targetStatus", l, l.TargetID, into, status)
	}
}

func (r *ReadBatch) listInvitesOf(home region.Code, l InvitationList, into *[]Invitation) {
	if len(l.Types) == 0 && len(l.Statuses) == 0 {
		r.invites(home, "mine", l, l.InvitedID, into)
		return
	}
	for _, kind := range orAll(l.Types, allInvites) {
		for _, status := range orAll(l.Statuses, allInviteStates) {
			r.invites(home, "mineKind", l, l.InvitedID, into, kind, status)
		}
	}
}

// invites queues one statement, whose rows are added to the others'.
func (r *ReadBatch) invites(home region.Code, name string, l InvitationList, of string, into *[]Invitation, filter ...any) {
	part := new([]Invitation)
	args := append([]any{of, l.After, l.AfterID, l.Limit}, filter...)
	r.add(home, invitationLists[name+pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name], scanAll(part, scanInvitation), args...)
	r.Then(func() { *into = append(*into, *part...) })
}

func orAll(wanted, all []string) []string {
	if len(wanted) == 0 {
		return all
	}
	return wanted
}
