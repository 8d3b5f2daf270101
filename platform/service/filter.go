package service

import "github.com/plaza-social/plaza/platform/store"

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

// FlaggedOf returns the filter of a hasFlag parameter; nil selects all rows.
func FlaggedOf(hasFlag *bool) store.Flagged {
	switch {
	case hasFlag == nil:
		return store.FlaggedAny
	case *hasFlag:
		return store.FlaggedOnly
	}
	return store.FlaggedNone
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
