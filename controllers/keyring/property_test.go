package keyring_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
)

// TestRandomOperation runs servers, requests, pauses and passes in random order for months. In every pass
//
//   - there is a key without notAfter, which is Active or Pending,
//
//   - a client that reads the active key once per half overlap is never refused by a server,
//
//   - no key is accepted for longer than the overlap after its successor became active.
func TestRandomOperation(t *testing.T) {
	for seed := range byte(20) {
		t.Run(strconv.Itoa(int(seed)), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(uint64(seed), 1))
			w := newWorld(t, seed)
			w.in.RotateEvery = time.Duration(1+dice.IntN(20)) * 12 * time.Hour
			w.in.Overlap = time.Duration(120+dice.IntN(2000)) * time.Minute
			c := client{w: w}
			ended := map[string]time.Time{} // when each key's successor became active
			for w.now.Before(dawn.Add(120 * day)) {
				w.now = w.now.Add(time.Duration(1+dice.IntN(int(w.in.Overlap.Minutes())/5)) * time.Minute)
				weather(w, dice)
				w.step()
				require.True(t, w.endless() > 0 || w.last.Pending != nil, "no key")
				c.call(t)
				follow(w, ended)
				for _, key := range w.last.Keys {
					if at, over := ended[key.ID]; over {
						require.False(t, w.now.After(at.Add(w.in.Overlap)), "%s lives too long", w.name(key.ID))
						require.False(t, key.NotAfter.IsZero() || key.NotAfter.After(at.Add(w.in.Overlap)))
					}
				}
			}
			require.Greater(t, len(w.names), 3, "there were rotations")
		})
	}
}

// weather is a random change between two passes.
func weather(w *world, dice *rand.Rand) {
	switch dice.IntN(12) {
	case 0:
		w.in.Request = strconv.Itoa(dice.IntN(50))
	case 1:
		w.in.Paused = !w.in.Paused
	case 2:
		w.in.Paused = false
	case 3:
		w.down = !w.down
	case 4:
		if file, err := keyring.ParseFile(w.content); err == nil { // one server reads the Secret before the others
			w.servers[dice.IntN(len(w.servers))].keys = file
		}
	case 5, 6, 7:
		w.down = false
		w.load()
	}
}

// client reads the active key once per half overlap, and calls every server with it.
type client struct {
	w     *world
	key   string
	taken time.Time
}

func (c *client) call(t *testing.T) {
	t.Helper()
	if c.key == "" || c.w.now.Sub(c.taken) >= c.w.in.Overlap/2 {
		if id := c.w.idOf(v1alpha1.KeyActive); id != "none" {
			c.key, c.taken = id, c.w.now
		}
	}
	if c.key == "" {
		return
	}
	for _, s := range c.w.servers {
		require.True(t, s.accepts(c.key, c.w.now), "a client is refused")
	}
}

func follow(w *world, ended map[string]time.Time) {
	for _, event := range w.last.Events {
		if event.Reason != v1alpha1.ReasonKeyActivated {
			continue
		}
		for _, key := range w.last.Keys {
			if _, known := ended[key.ID]; !known && key.State == v1alpha1.KeyRetiring {
				ended[key.ID] = w.now
			}
		}
	}
}

// TestRandomEdits adds edits by hand and clocks that jump. In every pass there is a key, and no valid key is dropped (see
// world.step); at the end the state is normal again.
func TestRandomEdits(t *testing.T) {
	for seed := range byte(20) {
		t.Run(strconv.Itoa(int(seed)), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(uint64(seed), 2))
			w := newWorld(t, seed)
			for i := range 300 {
				w.now = w.now.Add(time.Duration(dice.IntN(3000)) * time.Minute)
				weather(w, dice)
				hand(w, dice, i)
				w.step()
				require.True(t, w.endless() > 0 || w.in.Paused, "no key")
			}
			w.in.Paused, w.down = false, false
			w.settle()
			w.in.Request = "the last"
			w.settle()
			w.now = w.now.Add(w.in.Overlap)
			w.settle()
			require.Len(t, w.last.Keys, 1, w.keys())
			require.Equal(t, v1alpha1.KeyActive, w.last.Keys[0].State)
			require.False(t, w.last.NextRotation.After(w.now.Add(w.in.RotateEvery)))
		})
	}
}

func hand(w *world, dice *rand.Rand, i int) {
	at := w.now.Add(time.Duration(dice.IntN(9000)-2000) * time.Minute)
	edit := func(change func(keyring.File, int) keyring.File) {
		w.edit(func(f keyring.File) keyring.File {
			if len(f) == 0 {
				return f
			}
			return change(f, dice.IntN(len(f)))
		})
	}
	switch dice.IntN(25) {
	case 0:
		w.now = w.now.Add(-time.Duration(dice.IntN(100)) * day)
	case 1:
		edit(func(f keyring.File, n int) keyring.File { return append(f[:n], f[n+1:]...) })
	case 2:
		edit(func(f keyring.File, n int) keyring.File { f[n].NotAfter = at; return f })
	case 3:
		edit(func(f keyring.File, n int) keyring.File { f[n].NotAfter = time.Time{}; return f })
	case 4:
		edit(func(f keyring.File, _ int) keyring.File { return append(f, byHand(fmt.Sprintf("hand-%d", i), at)) })
	case 5:
		edit(func(f keyring.File, _ int) keyring.File {
			return append(keyring.File{byHand(fmt.Sprintf("hand-%d", i), time.Time{})}, f...)
		})
	case 6:
		w.notes = nil
	case 7:
		w.content = keyring.Secret{}
	case 8:
		for name := range w.notes {
			w.notes[name] = w.notes[keyring.Annotations()[dice.IntN(len(keyring.Annotations()))]]
		}
	}
}
