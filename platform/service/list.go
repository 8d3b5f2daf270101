package service

import "slices"

// ReplaceList is a list that a request changes: what it holds instead, or what it held where the request says nothing of it.
func ReplaceList[T any](given, held []T, cleared []string, name string) []T {
	if len(given) > 0 || slices.Contains(cleared, name) {
		return given
	}
	return held
}

// Distinct returns the elements of a list in order, each once.
func Distinct(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
