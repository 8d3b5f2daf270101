package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
)

// FlagItemList is a page of the items of the homes that have a state.
type FlagItemList struct {
	Homes []region.Code
	State FlagState
	// PlaceID, TargetType and Reason select the items with these values, unless they are empty.
	PlaceID    string
	TargetType FlagTarget
	Reason     string
	// Escalated selects the escalated items, ordered by the time of their escalation.
	Escalated bool
	Desc      bool
	After     time.Time // the position that the page starts after
	AfterID   string
	Limit     int
}

// At returns the time that orders the item in the list.
func (l FlagItemList) At(i FlagItem) time.Time {
	if l.Escalated {
		return *i.EscalatedAt
	}
	return i.OpenedAt
}

// The statements of ListFlagItems, each with an index for one of the filters.
var (
	flagItemsEscalated = flagItemList("Escalated", "escalated_at", `escalated_at IS NOT NULL AND ($6::text = '' OR target_type = $6)
		AND ($7::text = '' OR reason = $7) AND ($8::text = '' OR place_id = $8)`)
	flagItemsOfPlace = flagItemList("OfPlace", "opened_at", `place_id = $8 AND ($6::text = '' OR target_type = $6) AND ($7::text = ''
		OR reason = $7)`)
	flagItemsOfReason = flagItemList("OfReason", "opened_at", `reason = $7 AND ($6::text = '' OR target_type = $6) AND $8::text = ''`)
	flagItemsOfType   = flagItemList("OfType", "opened_at", `target_type = $6 AND $7::text = '' AND $8::text = ''`)
	flagItemsAll      = flagItemList("All", "opened_at", `$6::text = '' AND $7::text = '' AND $8::text = ''`)
)

func flagItemList(name, order, filter string) core.Directions {
	return core.OrderedBy(core.CreatedOrders, order, core.Source{
		Name: "flagItems.list" + name, Columns: flagItemColumns,
		From: `flag_items WHERE home = $1 AND state = $2 AND ` + filter, ID: "target_id", After: 3,
	}.List)
}

// ListFlagItems reads up to Limit items of each home, in no particular order.
func (r ReadBatch) ListFlagItems(l FlagItemList, into *[]FlagItem) {
	*into = nil
	list := flagItemsAll
	switch {
	case l.Escalated:
		list = flagItemsEscalated
	case l.PlaceID != "":
		list = flagItemsOfPlace
	case l.Reason != "":
		list = flagItemsOfReason
	case l.TargetType != "":
		list = flagItemsOfType
	}
	for _, home := range l.Homes {
		core.AppendRows(r.ReadBatch, home, list.In(l.Desc), into, string(l.State), l.After, l.AfterID, l.Limit, string(l.TargetType), l.Reason,
			l.PlaceID)
	}
}
