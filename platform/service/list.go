package service

import (
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/core"
)

// Map returns the results of f for the values of a list, such as the ids of rows.
func Map[T, R any](list []T, f func(T) R) []R {
	results := make([]R, len(list))
	for i, value := range list {
		results[i] = f(value)
	}
	return results
}

// SortByID sorts rows in the order of their ids in ids.
func SortByID[T any](rows []T, ids []string, id func(T) string) {
	slices.SortFunc(rows, func(a, b T) int { return slices.Index(ids, id(a)) - slices.Index(ids, id(b)) })
}

// Distinct returns the values of a list without repetitions, in the order of their first occurrence; nil if there are
// none.
func Distinct[T comparable](list []T) []T {
	var distinct []T
	for _, value := range list {
		if !slices.Contains(distinct, value) {
			distinct = append(distinct, value)
		}
	}
	return distinct
}

// SortedSet returns the values of a list sorted and without repetitions; nil if there are none.
func SortedSet(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// Find returns a pointer to the first row of a list for which match returns true, or nil.
func Find[T any](rows []T, match func(T) bool) *T {
	if i := slices.IndexFunc(rows, match); i >= 0 {
		return &rows[i]
	}
	return nil
}

// ReplaceList returns the new value of a list that an update request may replace: given if it has values or if
// cleared contains the name of the field, and current otherwise.
func ReplaceList[T any](given, current []T, cleared []string, name string) []T {
	if len(given) > 0 || slices.Contains(cleared, name) {
		return given
	}
	return current
}

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
func FlaggedOf(hasFlag *bool, moderates bool) (core.Flagged, error) {
	switch {
	case hasFlag == nil || !*hasFlag && !moderates:
		return core.FlaggedAny, nil
	case !moderates:
		return core.FlaggedAny, fail.NotAllowed()
	case *hasFlag:
		return core.FlaggedOnly, nil
	}
	return core.FlaggedNone, nil
}

// DeletedOf returns the filter of an isDeleted parameter; nil selects all rows.
func DeletedOf(isDeleted *bool) core.Deleted {
	switch {
	case isDeleted == nil:
		return core.DeletedAny
	case *isDeleted:
		return core.DeletedOnly
	}
	return core.DeletedNone
}
