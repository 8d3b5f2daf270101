package stage

import (
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Updates are the rules for the beginning of updates: of migrations, and of the replacement of a region's pods. The zero value allows
// them.
type Updates struct {
	// MayBegin returns why an update may not begin now; the zero Hold if it may.
	MayBegin func() Hold
	// InProgress records that an update is in progress, which may have begun under another leader.
	InProgress func()
}

// Hold is why an update may not begin.
type Hold struct {
	Reason  v1alpha1.Reason
	Message string
	// Again is when to ask again; 0 means after the next change of the spec.
	Again time.Duration
}

// HoldUpdate returns why an update may not begin now.
func (p *Pass) HoldUpdate() Hold {
	if p.Updates.MayBegin == nil || p.SN.Spec.Paused {
		return Hold{}
	}
	return p.Updates.MayBegin()
}

// UpdateInProgress records that the network is being updated.
func (p *Pass) UpdateInProgress() {
	if p.Updates.InProgress != nil {
		p.Updates.InProgress()
	}
}
