package service

import (
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
)

// Order is one of the four orders of posts and comments.
type Order struct{ ByUpdate, Desc bool }

// OrderOf parses a sortBy parameter. The default is lastCreated.
func OrderOf(sortBy string) Order {
	switch sortBy {
	case "firstCreated":
		return Order{}
	case "lastUpdated":
		return Order{ByUpdate: true, Desc: true}
	case "firstUpdated":
		return Order{ByUpdate: true}
	}
	return Order{Desc: true}
}

// FlaggedOf returns the filter of a hasFlag parameter; nil selects all rows. Only moderators filter by flags, because
// the result would tell others what was flagged: for them true is 400300, and false, which public clients send by
// default, selects all rows.
func FlaggedOf(hasFlag *bool, moderates bool) (store.Flagged, error) {
	switch {
	case hasFlag == nil || !*hasFlag && !moderates:
		return store.FlaggedAny, nil
	case !moderates:
		return store.FlaggedAny, fail.NotAllowed()
	case *hasFlag:
		return store.FlaggedOnly, nil
	}
	return store.FlaggedNone, nil
}

// DeletedOf returns the filter of an isDeleted parameter; nil selects all rows.
func DeletedOf(isDeleted *bool) store.Deleted {
	switch {
	case isDeleted == nil:
		return store.DeletedAny
	case *isDeleted:
		return store.DeletedOnly
	}
	return store.DeletedNone
}
