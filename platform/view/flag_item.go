package view

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Flag converts a flag of a target with a home. users contains the user who set it, unless the user's home is unavailable.
func Flag(f content.Flag, home region.Code, users []people.User) *plazav1.Flag {
	return &plazav1.Flag{
		TargetType: string(f.TargetType), TargetId: f.TargetID, UserId: publicIDOf(users, f.UserID), UserInternalId: f.UserID,
		Reason: f.Reason, Detail: f.Detail, Region: string(home), CreatedAt: timestamppb.New(f.CreatedAt),
	}
}

// FlagItem converts an item of the flag queue at a home with some of its flags.
func FlagItem(i content.FlagItem, home region.Code, flags []content.Flag, users []people.User) *plazav1.FlagItem {
	m := &plazav1.FlagItem{
		TargetType: string(i.TargetType), TargetId: i.TargetID, Region: string(home), State: string(i.State), Reason: i.Reason,
		FlagCount: count(i.FlagCount), OpenedAt: timestamppb.New(i.OpenedAt), FlaggedAt: timestamppb.New(i.FlaggedAt),
		ClaimedBy: publicIDOf(users, i.ClaimedBy), ClaimedUntil: tsOrNil(i.ClaimedUntil), Outcome: string(i.Outcome),
		ResolvedBy: publicIDOf(users, i.ResolvedBy), ResolvedAt: tsOrNil(i.ResolvedAt), IsHidden: i.IsHidden, EscalatedAt: tsOrNil(i.EscalatedAt),
	}
	if i.TargetType == content.FlagMessage {
		m.ChannelId = i.PlaceID
	} else {
		m.CommunityId = i.PlaceID
	}
	for _, f := range flags {
		m.Flags = append(m.Flags, Flag(f, home, users))
	}
	return m
}

// FlagNote converts a note.
func FlagNote(n content.FlagNote, users []people.User) *plazav1.FlagNote {
	return &plazav1.FlagNote{NoteId: n.ID, UserId: publicIDOf(users, n.AuthorID), Text: n.Text, CreatedAt: timestamppb.New(n.CreatedAt)}
}

func publicIDOf(users []people.User, id string) string {
	if u := find(users, func(u *people.User) bool { return u.ID == id }); u != nil {
		return u.PublicID
	}
	return ""
}

// FlagItemCounts returns the sums of the counts of items for references.
func FlagItemCounts(counts core.Counts, refs []string) *plazav1.CountFlagItemsResponse {
	sum := func(state content.FlagState) (n int64) {
		for _, ref := range refs {
			n += counts.Of(ref, content.FlagsCounter(state))
		}
		return n
	}
	return &plazav1.CountFlagItemsResponse{
		Open: count(sum(content.FlagsOpen)), Claimed: count(sum(content.FlagsClaimed)), Resolved: count(sum(content.FlagsResolved)),
	}
}
