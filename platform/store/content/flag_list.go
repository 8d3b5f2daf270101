package content

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

var flagColumns = db.Columns[Flag]()

// FlagList is a page of the flags of the homes.
type FlagList struct {
	Homes []region.Code
	// TargetID, TargetType and Reason select the flags with these values, unless they are empty.
	TargetID   string
	TargetType FlagTarget
	Reason     string
	Desc       bool
	After      time.Time // the position that the page starts after
	AfterID    string
	Limit      int
}

// The statements of ListFlags, each with an index for one of the filters.
var (
	flagsByReason  = flagList("OfReason", `reason = $6 AND ($5::text = '' OR target_type = $5)`)
	flagsByType    = flagList("OfType", `target_type = $5 AND $6::text = ''`)
	flagsByCreated = flagList("All", `$5::text = '' AND $6::text = ''`)

	// A target has at most as many flags as the network allows.
	sqlFlagsOfTarget = db.Register("flags.ofTarget", `SELECT `+flagColumns+` FROM flags WHERE home = $1 AND target_id = $2
		AND ($3::text = '' OR target_type = $3) AND ($4::text = '' OR reason = $4)`)
)

func flagList(name, filter string) core.Directions {
	return core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
		Name: "flags.list" + name, Columns: flagColumns, From: `flags WHERE home = $1 AND ` + filter, After: 2,
	}.List)
}

// ListFlags reads up to Limit flags of each home, in no particular order. They include the flags of the page. With a
// TargetID it reads all flags of the target, also those before the position.
func (r ReadBatch) ListFlags(l FlagList, into *[]Flag) {
	*into = nil
	list := flagsByCreated
	switch {
	case l.TargetID != "":
		if home, err := r.HomeOf(l.TargetID); err == nil && slices.Contains(l.Homes, home) {
			core.AppendRows(r.ReadBatch, home, sqlFlagsOfTarget, into, l.TargetID, string(l.TargetType), l.Reason)
		}
		return
	case l.Reason != "":
		list = flagsByReason
	case l.TargetType != "":
		list = flagsByType
	}
	for _, home := range l.Homes {
		core.AppendRows(r.ReadBatch, home, list.In(l.Desc), into, l.After, l.AfterID, l.Limit, string(l.TargetType), l.Reason)
	}
}
