package service

import "slices"

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
