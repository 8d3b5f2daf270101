package view

import (
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Pins returns the response about pins. The aggregate holds the pinned posts.
func (b *Builder) Pins(a *Aggregate, targets []content.PinTarget, pins []content.Pin) *plazav1.PinResponse {
	m := Fill(a, &plazav1.PinResponse{PinTargets: b.PinTargets(targets)})
	for _, p := range pins {
		m.Pins = append(m.Pins, &plazav1.Pin{
			ReferenceId: p.PostID, ReferenceType: "post", Placement: p.Placement, PinnedBy: p.PinnedBy, PinnedAt: ts(p.PinnedAt),
		})
	}
	return m
}

// PinTargets converts pin targets: the network or communities.
func (b *Builder) PinTargets(targets []content.PinTarget) []*plazav1.PinTarget {
	var out []*plazav1.PinTarget
	for _, t := range targets {
		kind := "community"
		if t.TargetID == b.NetworkID {
			kind = "network"
		}
		out = append(out, &plazav1.PinTarget{TargetId: t.TargetID, TargetType: kind, LastPinsUpdatedAt: ts(t.ChangedAt)})
	}
	return out
}
