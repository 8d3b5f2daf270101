package store

import (
	"context"
	"time"
)

// followEvery is the interval at which AwaitServers looks for servers that do not follow a route yet.
const followEvery = 20 * time.Millisecond

// AwaitServers waits until every running server follows a version of the route of a user. It returns the error of the context if
// that ends before.
func (s *Store) AwaitServers(ctx context.Context, userID string, version int64) error {
	for {
		var behind bool
		reads := s.NewReadBatch()
		reads.ServersBehind(userID, version, &behind)
		if err := reads.Run(ctx); err != nil || !behind {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followEvery):
		}
	}
}
