package service

import "slices"

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
