package db

import "time"

// rememberErased is how long a server knows that a user was erased. It is longer than servers remember public ids, see package
// directory.
const rememberErased = 2 * time.Minute

// Erased reports whether a user is being erased, or was a moment ago.
func (r *Routes) Erased(userID string) bool {
	if r.erasures.Load() == 0 {
		return false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	until, ok := r.erased[userID]
	return ok && (until.IsZero() || r.now().Before(until))
}

// noteErasure notes that a user is erased. Afterwards nothing needs the route of a user without ids that have moved. The caller
// holds r.mu.
func (r *Routes) noteErasure(route Route, hasMoved bool) {
	switch route.State {
	case RouteErasing:
		r.erased[route.UserID] = time.Time{}
	case RouteErased:
		now := r.now()
		for userID, until := range r.erased {
			if !until.IsZero() && now.After(until) {
				delete(r.erased, userID)
			}
		}
		r.erased[route.UserID] = now.Add(rememberErased)
		if hasMoved {
			return
		}
		delete(r.users, route.UserID)
		if raw, ok := rawOf(route.UserID); ok {
			delete(r.owners, raw)
		}
	}
}
