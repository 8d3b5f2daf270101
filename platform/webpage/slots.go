package webpage

import "sync"

// slots are the fetches in progress, by the users for whom they were begun.
type slots struct {
	mu     sync.Mutex
	taken  int
	byUser map[string]int
}

// take takes a slot for a user, and reports whether there was one.
func (s *slots) take(user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= maxFetches || s.byUser[user] >= maxOfUser {
		return false
	}
	if s.byUser == nil {
		s.byUser = map[string]int{}
	}
	s.taken++
	s.byUser[user]++
	return true
}

// give returns a slot.
func (s *slots) give(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.byUser[user]--; s.byUser[user] == 0 {
		delete(s.byUser, user)
	}
}
