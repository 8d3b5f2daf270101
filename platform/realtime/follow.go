package realtime

import (
	"context"
	"time"
)

// follower is the part of a stream that writes what is delivered to it.
type follower struct {
	out     *writer
	notify  <-chan struct{} // receives when there is something to flush
	end     func(reason string)
	recheck func() // is called at each heartbeat
	// flush writes what is queued, and a heartbeat if alive is true. It reports whether the stream has ended.
	flush func(alive bool) (ended bool)
}

// follow writes a stream until it ends.
func (h *Hub) follow(ctx context.Context, f follower) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for f.out.err == nil {
		alive := false
		select {
		case <-ctx.Done():
			return
		case <-f.notify:
		case <-h.closing:
			f.end(endShutdown)
		case <-beat.C:
			alive = true
			f.recheck()
		}
		if f.flush(alive) {
			return
		}
	}
}
