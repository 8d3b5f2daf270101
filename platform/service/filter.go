package service

import "github.com/plaza-social/plaza/platform/store"

// Order is one of the four orders that posts and comments are listed in.
type Order struct{ ByUpdate, Desc bool }

// OrderOf reads a sortBy parameter; lastCreated stands in for an absent one.
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

// FlaggedOf reads the three-state hasFlag.
func FlaggedOf(hasFlag *bool) store.Flagged {
	switch {
	case hasFlag == nil:
		return store.FlaggedAny
	case *hasFlag:
		return store.FlaggedOnly
	}
	return store.FlaggedNone
}

// DeletedOf reads the three-state isDeleted, in which absent means both.
func DeletedOf(isDeleted *bool) store.Deleted {
	switch {
	case isDeleted == nil:
		return store.DeletedAny
	case *isDeleted:
		return store.DeletedOnly
	}
	return store.DeletedNone
}
