package notification

import (
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/plaza-social/plaza/platform/push"
)

// Users choose the push services of their browsers. One that lets servers wait would delay the pushes of other users, so that a server
// pauses the pushes of its user.
const (
	// firstPause is the pause after the first attempt that takes long. It doubles with each in succession, up to lastPause.
	firstPause = time.Minute
	lastPause  = 30 * time.Minute
	// maxSlowUsers bounds the users whom a server remembers.
	maxSlowUsers = 10_000
)

// slowUsers are the users whose push services let the server wait.
type slowUsers struct {
	after time.Duration // how long an attempt takes that leads to a pause
	mu    sync.Mutex
	users *lru.Cache[string, slowUser]
}

type slowUser struct {
	pause time.Duration
	until time.Time
}

func newSlowUsers(after time.Duration) *slowUsers {
	users, err := lru.New[string, slowUser](maxSlowUsers)
	if err != nil {
		panic(err) // the size is a positive constant
	}
	return &slowUsers{after: after, users: users}
}

// pausedError is the result of a push that was not attempted.
type pausedError struct{ until time.Time }

// Error implements error.
func (p *pausedError) Error() string { return fmt.Sprintf("paused until %s", p.until) }

// check returns a *pausedError while the pushes of a user to a provider are paused.
func (s *slowUsers) check(provider, userID string, now time.Time) error {
	if provider != push.WebPush {
		return nil
	}
	if known, ok := s.users.Get(userID); ok && now.Before(known.until) {
		return &pausedError{known.until}
	}
	return nil
}

// note remembers how long an attempt took. Attempts that were made together lead to one pause.
func (s *slowUsers) note(provider, userID string, took time.Duration, now time.Time) {
	if provider != push.WebPush {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, _ := s.users.Get(userID)
	switch {
	case now.Before(known.until):
	case took < s.after:
		s.users.Remove(userID)
	default:
		pause := min(max(2*known.pause, firstPause), lastPause)
		s.users.Add(userID, slowUser{pause, now.Add(pause)})
	}
}
