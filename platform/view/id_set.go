package view

import "slices"

// idSet is a set of ids in insertion order. The empty id is never in it.
type idSet struct {
	order []string
	seen  map[string]bool // added or excluded
}

func newIDSet(ids ...string) *idSet {
	s := &idSet{seen: map[string]bool{"": true}}
	s.add(ids...)
	return s
}

func (s *idSet) add(ids ...string) {
	for _, id := range ids {
		if !s.seen[id] {
			s.seen[id] = true
			s.order = append(s.order, id)
		}
	}
}

// exclude removes an id and makes later calls of add ignore it.
func (s *idSet) exclude(id string) {
	s.seen[id] = true
	s.order = slices.DeleteFunc(s.order, func(have string) bool { return have == id })
}

func (s *idSet) list() []string { return s.order }

// unique returns the first row of each key, in the order of rows.
func unique[T any](rows []T, key func(T) string) []T {
	seen := make(map[string]bool, len(rows))
	out := make([]T, 0, len(rows))
	for _, row := range rows {
		if k := key(row); !seen[k] {
			seen[k] = true
			out = append(out, row)
		}
	}
	return out
}

// find returns the first element that matches, nil without one.
func find[T any](list []T, matches func(*T) bool) *T {
	for i := range list {
		if matches(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
