package view

import "slices"

// idSet is a set of ids in insertion order. The empty id is never in it.
type idSet struct {
	order    []string
	excluded []string
	index    map[string]bool // of both, once there are many
}

// indexedSize is the size from which a map is faster than searching a list.
const indexedSize = 32

func newIDSet(ids ...string) *idSet {
	s := &idSet{}
	s.add(ids...)
	return s
}

func (s *idSet) add(ids ...string) {
	for _, id := range ids {
		if id != "" && !s.has(id) {
			s.order = append(s.order, id)
			s.indexed(id)
		}
	}
}

// has reports whether an id was added or excluded.
func (s *idSet) has(id string) bool {
	if s.index != nil {
		return s.index[id]
	}
	return slices.Contains(s.order, id) || slices.Contains(s.excluded, id)
}

func (s *idSet) indexed(id string) {
	if s.index != nil {
		s.index[id] = true
	} else if len(s.order)+len(s.excluded) > indexedSize {
		s.index = map[string]bool{}
		for _, id := range slices.Concat(s.order, s.excluded) {
			s.index[id] = true
		}
	}
}

// exclude removes an id and makes later calls of add ignore it.
func (s *idSet) exclude(id string) {
	s.order = slices.DeleteFunc(s.order, func(have string) bool { return have == id })
	s.excluded = append(s.excluded, id)
	s.indexed(id)
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
