package reaction

import (
	"sync"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
)

// Bounds of the live reactions in memory: of a post, of the posts of a home, and of the posts in a transaction.
const (
	maxLiveOfPost = 200
	maxLivePosts  = 10_000
	maxLiveSent   = 50
)

// liveReactions are the live reactions that this server has received and not sent yet, by home and post.
type liveReactions struct {
	mu      sync.Mutex
	pending map[region.Code]map[string]events.Change
}

// add keeps reactions to a post, and returns those for which there is room.
func (b *liveReactions) add(home region.Code, c events.Change, reactions []events.LiveReaction) []events.LiveReaction {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending == nil {
		b.pending = map[region.Code]map[string]events.Change{}
	}
	posts := b.pending[home]
	if posts == nil {
		posts = map[string]events.Change{}
		b.pending[home] = posts
	}
	old, known := posts[c.ID]
	if !known && len(posts) >= maxLivePosts {
		return nil
	}
	kept := reactions[:min(len(reactions), maxLiveOfPost-len(old.Live))]
	if len(kept) > 0 {
		old.Live = append(old.Live, kept...)
		c.Live = old.Live
		posts[c.ID] = c
	}
	return kept
}

// take removes the reactions to up to maxLiveSent posts of a home, and reports whether there are more.
func (b *liveReactions) take(home region.Code) (changes []events.Change, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, c := range b.pending[home] {
		if len(changes) == maxLiveSent {
			return changes, true
		}
		changes = append(changes, c)
		delete(b.pending[home], id)
	}
	return changes, false
}
