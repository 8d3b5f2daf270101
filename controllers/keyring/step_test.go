package keyring_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
)

const day = 24 * time.Hour

// scene is a step of a timeline: time passes, a change is made, servers read the Secret, and the operator runs one
// pass, whose keys and events are compared.
type scene struct {
	after  time.Duration
	do     func(w *world)
	unread bool // the servers did not read the Secret yet
	keys   string
	events string
	due    time.Duration // from now; 0 is never
}

func ask(value string) func(*world) { return func(w *world) { w.in.Request = value } }

// revoke asks for the revocation of keys by their short names.
func revoke(names ...string) func(*world) {
	return func(w *world) {
		w.in.Revoke = nil
		for id, name := range w.names {
			if slices.Contains(names, name) {
				w.in.Revoke = append(w.in.Revoke, id)
			}
		}
	}
}

var timelines = map[string][]scene{
	"the active key is revoked": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: day, do: revoke("k1"), keys: "k2 Pending", events: "KeyRevoked k1, RotationStarted k2"},
		{keys: "k2 Active", events: "KeyActivated k2", due: 30 * day},
		{after: day, keys: "k2 Active", due: 29 * day},
	},
	"an old key is revoked before its time": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: day, do: ask("now"), keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyActivated k2, KeyRetiring k1", due: time.Hour},
		{after: time.Minute, do: revoke("k1"), keys: "k2 Active", events: "KeyRevoked k1", due: 30*day - time.Minute},
	},
	"a pending key is revoked": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: day, do: ask("now"), unread: true, keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{do: revoke("k2"), keys: "k3 Pending, k1 Active", events: "KeyRevoked k2, RotationStarted k3"},
		{keys: "k3 Active, k1 Retiring 1h0m0s", events: "KeyActivated k3, KeyRetiring k1", due: time.Hour},
	},
	"the active key is revoked while an old one is accepted": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: day, do: ask("now"), keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyActivated k2, KeyRetiring k1", due: time.Hour},
		{do: revoke("k2"), keys: "k3 Pending, k1 Retiring 1h0m0s", events: "KeyRevoked k2, RotationStarted k3", due: time.Hour},
	},
	"three months by schedule": {
		{keys: "k1 Pending", events: "KeysCreated k1", unread: true},
		{after: time.Second, keys: "k1 Pending", unread: true},
		{after: time.Second, keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: 10 * day, keys: "k1 Active", due: 20 * day},
		{after: 20*day - time.Second, keys: "k1 Active", due: time.Second},
		{after: time.Second, keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{after: time.Minute, keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyActivated k2, KeyRetiring k1", due: time.Hour},
		{after: 59 * time.Minute, keys: "k2 Active, k1 Retiring 1m0s", due: time.Minute},
		{after: time.Minute, keys: "k2 Active", events: "KeyRevoked k1", due: 30*day - time.Hour},
		{after: 30*day - time.Hour, keys: "k3 Pending, k2 Active", events: "RotationStarted k3"},
		{after: time.Minute, keys: "k3 Active, k2 Retiring 1h0m0s", events: "KeyActivated k3, KeyRetiring k2", due: time.Hour},
		{after: time.Hour, keys: "k3 Active", events: "KeyRevoked k2", due: 30*day - time.Hour},
		{after: 30 * day, keys: "k4 Pending, k3 Active", events: "RotationStarted k4"},
	},
	"servers that never see the new key keep the old one": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: 30 * day, keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{after: 200 * day, unread: true, keys: "k2 Pending, k1 Active"},
		{after: 200 * day, do: func(w *world) { w.down = true }, keys: "k2 Pending, k1 Active"},
		{
			after: time.Hour, do: func(w *world) { w.down = false }, keys: "k2 Active, k1 Retiring 1h0m0s",
			events: "KeyActivated k2, KeyRetiring k1", due: time.Hour,
		},
		{after: time.Hour, keys: "k2 Active", events: "KeyRevoked k1", due: 30*day - time.Hour},
	},
	"an immediate request": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: day, do: ask("now"), keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyActivated k2, KeyRetiring k1", due: time.Hour},
		{after: time.Hour, keys: "k2 Active", events: "KeyRevoked k1", due: 30*day - time.Hour},
		{after: day, do: ask(""), keys: "k2 Active", due: 29*day - time.Hour},
		{after: time.Hour, do: ask("now"), keys: "k2 Active", due: 29*day - 2*time.Hour},
	},
	"a request before the first key asks for nothing": {
		{do: ask("now"), keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: day, keys: "k1 Active", due: 29 * day},
	},
	"a second request while the first is under way": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: ask("one"), keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{do: ask("two"), unread: true, keys: "k2 Pending, k1 Active"},
		{after: time.Hour, do: ask(""), unread: true, keys: "k2 Pending, k1 Active"}, // the request is kept although its annotation was removed
		{
			after: time.Minute, keys: "k3 Pending, k2 Active, k1 Retiring 1h0m0s",
			events: "KeyActivated k2, KeyRetiring k1, RotationStarted k3", due: time.Hour,
		},
		{
			after: time.Minute, keys: "k3 Active, k2 Retiring 1h0m0s, k1 Retiring 59m0s", events: "KeyActivated k3, KeyRetiring k2",
			due: 59 * time.Minute,
		},
		{after: time.Hour, keys: "k3 Active", events: "KeyRevoked k2, KeyRevoked k1", due: 30*day - time.Hour},
	},
	"paused: nothing but the end of keys": {
		{do: func(w *world) { w.in.Paused = true }},
		{do: func(w *world) { w.in.Paused = false }, keys: "k1 Pending", events: "KeysCreated k1"},
		{do: func(w *world) { w.in.Paused = true }, keys: "k1 Pending"},
		{do: func(w *world) { w.in.Paused = false }, keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: ask("now"), keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyActivated k2, KeyRetiring k1", due: time.Hour},
		{do: func(w *world) { w.in.Paused, w.in.Request = true, "again" }, keys: "k2 Active, k1 Retiring 1h0m0s", due: time.Hour},
		{after: 2 * time.Hour, keys: "k2 Active", events: "KeyRevoked k1"},
		{after: 100 * day, keys: "k2 Active"},
		{do: func(w *world) { w.in.Paused = false }, keys: "k3 Pending, k2 Active", events: "RotationStarted k3"},
	},
	"the clock goes back": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: 1000 * day, keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyActivated k2, KeyRetiring k1", due: time.Hour},
		{after: -1000 * day, keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyRetiring k1", due: time.Hour},
		{after: -time.Minute, keys: "k2 Active, k1 Retiring 1h1m0s", due: time.Hour + time.Minute}, // two clocks always differ
		{after: time.Hour + time.Minute, keys: "k2 Active", events: "KeyRevoked k1", due: 30*day - time.Hour},
	},
	"a shorter overlap applies immediately": {
		{do: func(w *world) { w.in.Overlap = 100 * time.Hour }, keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: ask("now"), keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{keys: "k2 Active, k1 Retiring 100h0m0s", events: "KeyActivated k2, KeyRetiring k1", due: 100 * time.Hour},
		{do: func(w *world) { w.in.Overlap = time.Hour }, keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyRetiring k1", due: time.Hour},
	},
	"a key put in by hand stays until the next rotation is through": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: func(w *world) {
			w.edit(func(f keyring.File) keyring.File {
				return append(keyring.File{byHand("mine", time.Time{})},
					append(f, byHand("year", w.now.Add(365*day)), byHand("soon", w.now.Add(31*day)))...)
			})
		}, keys: "mine Retiring, k1 Active, year Retiring 8760h0m0s, soon Retiring 744h0m0s", due: 30 * day},
		{
			after: 30 * day, keys: "k2 Pending, mine Retiring, k1 Active, year Retiring 8040h0m0s, soon Retiring 24h0m0s",
			events: "RotationStarted k2", due: day,
		},
		{
			after: day - time.Minute, keys: "k2 Active, mine Retiring 1h0m0s, k1 Retiring 1h0m0s, year Retiring 1h0m0s, soon Retiring 1m0s",
			events: "KeyActivated k2, KeyRetiring mine, KeyRetiring k1, KeyRetiring year", due: time.Minute,
		},
		{
			after: time.Hour, keys: "k2 Active", events: "KeyRevoked mine, KeyRevoked k1, KeyRevoked year, KeyRevoked soon",
			due: 30*day - time.Hour,
		},
	},
	"the active key taken out by hand": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: func(w *world) { w.edit(removed(w, v1alpha1.KeyActive)) }, keys: "k2 Pending", events: "RotationStarted k2"},
		{keys: "k2 Active", events: "KeyActivated k2", due: 30 * day},
	},
	"the active key replaced by hand": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{
			do: func(w *world) {
				w.edit(func(keyring.File) keyring.File {
					return keyring.File{byHand("mine", time.Time{}), byHand("other", time.Time{})}
				})
			},
			unread: true, keys: "mine Pending, other Retiring", events: "KeyAdopted mine",
		},
		{after: time.Hour, keys: "mine Active, other Retiring", events: "KeyActivated mine", due: 30 * day},
	},
	"the active key given an end by hand": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: func(w *world) {
			w.edit(func(f keyring.File) keyring.File { f[0].NotAfter = w.now.Add(2 * time.Hour); return f })
		}, keys: "k2 Pending, k1 Retiring 2h0m0s", events: "RotationStarted k2", due: 2 * time.Hour},
		{keys: "k2 Active, k1 Retiring 2h0m0s", events: "KeyActivated k2", due: 2 * time.Hour},
		{after: 2 * time.Hour, keys: "k2 Active", events: "KeyRevoked k1", due: 30*day - 2*time.Hour},
	},
	"the active key ended by hand while paused": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: func(w *world) {
			w.in.Paused = true
			w.edit(func(f keyring.File) keyring.File { f[0].NotAfter = w.now; return f })
		}},
		{do: func(w *world) { w.in.Paused = false }, keys: "k2 Pending", events: "KeyRevoked k1, RotationStarted k2"},
	},
	"the pending key taken out by hand": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: ask("now"), keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{do: func(w *world) { w.edit(removed(w, v1alpha1.KeyPending)) }, keys: "k3 Pending, k1 Active", events: "RotationStarted k3"},
		{keys: "k3 Active, k1 Retiring 1h0m0s", events: "KeyActivated k3, KeyRetiring k1", due: time.Hour},
	},
	"the pending key taken out by hand while paused": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: func(w *world) {
			w.edit(func(f keyring.File) keyring.File { return append(f, byHand("brief", w.now.Add(time.Minute))) })
		}, keys: "k1 Active, brief Retiring 1m0s", due: time.Minute},
		{do: ask("now"), keys: "k2 Pending, k1 Active, brief Retiring 1m0s", events: "RotationStarted k2", due: time.Minute},
		{do: func(w *world) {
			w.edit(removed(w, v1alpha1.KeyPending))
			w.in.Paused = true
		}, keys: "k1 Active, brief Retiring 1m0s", due: time.Minute},
		{after: time.Hour, keys: "k1 Active", events: "KeyRevoked brief"},
		{do: func(w *world) { w.in.Paused = false }, keys: "k3 Pending, k1 Active", events: "RotationStarted k3"},
	},
	"the end of an old key taken away by hand": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: ask("now"), keys: "k2 Pending, k1 Active", events: "RotationStarted k2"},
		{keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyActivated k2, KeyRetiring k1", due: time.Hour},
		{
			after: time.Minute, do: func(w *world) {
				w.edit(func(f keyring.File) keyring.File { f[1].NotAfter = time.Time{}; return f })
			},
			keys: "k2 Active, k1 Retiring 1h0m0s", events: "KeyRetiring k1", due: time.Hour,
		},
	},
	"the annotations are lost": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: func(w *world) { w.notes = nil }, unread: true, keys: "k1 Pending", events: "KeyAdopted k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{after: day, do: func(w *world) { delete(w.notes, keyring.AnnotationRotated) }, keys: "k1 Active", due: 30 * day},
		{do: func(w *world) { w.notes[keyring.AnnotationRotated] = "yesterday" }, keys: "k1 Active", due: 30 * day},
	},
	"the annotations name keys that do not exist": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: func(w *world) { w.notes[keyring.AnnotationRetiring] = "gone and forgotten" }, keys: "k1 Active", due: 30 * day},
		{do: func(w *world) { w.notes[keyring.AnnotationActive] = "gone" }, keys: "k1 Pending", events: "KeyAdopted k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
	},
	"the annotations name the active key as pending and retiring": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: func(w *world) {
			w.notes[keyring.AnnotationPending] = w.notes[keyring.AnnotationActive]
			w.notes[keyring.AnnotationRetiring] = w.notes[keyring.AnnotationActive] + " gone"
		}, keys: "k1 Active", due: 30 * day},
	},
	"a Secret by hand whose keys end": {
		{
			do: func(w *world) {
				w.edit(func(keyring.File) keyring.File { return keyring.File{byHand("brief", w.now.Add(time.Hour))} })
			},
			keys: "k1 Pending, brief Retiring 1h0m0s", events: "RotationStarted k1", due: time.Hour,
		},
		{after: time.Hour, keys: "k1 Active", events: "KeyRevoked brief, KeyActivated k1", due: 30 * day},
	},
	"every key taken out by hand": {
		{keys: "k1 Pending", events: "KeysCreated k1"},
		{keys: "k1 Active", events: "KeyActivated k1", due: 30 * day},
		{do: func(w *world) { w.content = keyring.NewSecret(`{"keys": []}`) }, keys: "k2 Pending", events: "RotationStarted k2"},
		{keys: "k2 Active", events: "KeyActivated k2", due: 30 * day},
		{do: func(w *world) { w.content, w.notes = keyring.Secret{}, nil }, keys: "k3 Pending", events: "KeysCreated k3"},
	},
}

func TestTimelines(t *testing.T) {
	for name, timeline := range timelines {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			for i, s := range timeline {
				w.now = w.now.Add(s.after)
				if !s.unread {
					w.load()
				}
				if s.do != nil {
					s.do(w)
				}
				if !s.unread {
					w.load()
				}
				result := w.step()
				require.Equal(t, s.keys, w.keys(), "scene %d", i+1)
				require.Equal(t, s.events, w.events(), "scene %d", i+1)
				if s.due == 0 {
					require.True(t, result.Due.IsZero(), "scene %d: %s", i+1, result.Due)
				} else {
					require.Equal(t, s.due, result.Due.Sub(w.now), "scene %d", i+1)
				}
				require.LessOrEqual(t, len(w.note(keyring.AnnotationRequest)), 63)
			}
		})
	}
}

// TestIdle checks that a pass with nothing to do writes nothing, at any time.
func TestIdle(t *testing.T) {
	w := newWorld(t, 2)
	w.settle()
	for range 29 * 24 {
		w.now = w.now.Add(time.Hour)
		require.False(t, w.step().Changed)
	}
	require.Equal(t, "k1 Active", w.keys())
	require.Equal(t, dawn, w.last.LastRotation)
	require.Equal(t, dawn.Add(30*day), w.last.NextRotation)
}

func TestPausedTellsWhatWaits(t *testing.T) {
	w := newWorld(t, 3)
	w.in.Paused = true
	result := w.step()
	require.False(t, result.Changed)
	require.Len(t, result.Pending, 1)
	require.Equal(t, v1alpha1.ReasonKeysCreated, result.Pending[0].Reason)
	w.in.Paused = false
	w.settle()
	w.in.Paused, w.now = true, w.now.Add(31*day)
	result = w.step()
	require.False(t, result.Changed)
	require.Empty(t, result.Events)
	require.Len(t, result.Pending, 1)
	require.Equal(t, v1alpha1.ReasonRotationStarted, result.Pending[0].Reason)
	require.True(t, result.NextRotation.Before(w.now), "overdue, and it shows")
}

// TestManyRequests checks that the file stays small, and that the last request is handled when there is room.
func TestManyRequests(t *testing.T) {
	w := newWorld(t, 4)
	w.in.Overlap = 7 * day
	w.settle()
	for i := range 40 {
		w.in.Request = string(rune('a' + i))
		w.settle()
		require.LessOrEqual(t, len(w.last.Keys), keyring.MaxKeys)
	}
	require.Len(t, w.last.Keys, keyring.MaxKeys)
	require.Equal(t, w.now.Add(7*day), w.last.Due, "the request waits for a key to expire")
	before := w.idOf(v1alpha1.KeyActive)
	w.now = w.now.Add(7 * day)
	w.settle()
	require.NotEqual(t, before, w.idOf(v1alpha1.KeyActive))
	require.Len(t, w.last.Keys, 2)
}

// TestStoredRequests checks the form in which a request is stored: as it is, or as its digest if an annotation could not have it.
func TestStoredRequests(t *testing.T) {
	for request, isKept := range map[string]bool{
		"now": true, strings.Repeat("x", 63): true, strings.Repeat("x", 64): false, "ü": false, "two words": false,
	} {
		w := newWorld(t, 5)
		w.settle()
		w.in.Request = request
		w.settle()
		require.Equal(t, isKept, w.note(keyring.AnnotationRequest) == request, request)
		require.LessOrEqual(t, len(w.note(keyring.AnnotationRequest)), 63)
	}
}

// TestRevokedOldKey revokes one of two old keys: the other one remains an old key.
func TestRevokedOldKey(t *testing.T) {
	w := newWorld(t, 9)
	w.settle()
	for _, request := range []string{"one", "two"} {
		w.in.Request = request
		w.settle()
	}
	require.Equal(t, "k3 Active, k2 Retiring 1h0m0s, k1 Retiring 1h0m0s", w.keys())
	ids := map[string]string{}
	for id, name := range w.names {
		ids[name] = id
	}
	w.in.Revoke = []string{ids["k1"]}
	w.step()
	require.Equal(t, ids["k2"], w.note(keyring.AnnotationRetiring))
}

// TestCandidate checks which key the servers are asked about.
func TestCandidate(t *testing.T) {
	w := newWorld(t, 7)
	requireCandidate := func(want string) {
		t.Helper()
		key, found, err := keyring.Candidate(w.content, w.notes)
		require.NoError(t, err)
		require.Equal(t, want != "", found)
		require.Equal(t, want, key.ID)
	}
	requireCandidate("")
	w.settle()
	requireCandidate(w.idOf(v1alpha1.KeyActive))
	w.in.Request = "now"
	w.step()
	requireCandidate(w.idOf(v1alpha1.KeyPending))
	w.edit(removed(w, v1alpha1.KeyPending))
	requireCandidate("") // the next step replaces the lost key
}

// TestNextRotation checks when the time of the next rotation is unknown: without an active key, and without the time of the last.
func TestNextRotation(t *testing.T) {
	w := newWorld(t, 8)
	w.settle()
	w.in.Revoke = []string{w.idOf(v1alpha1.KeyActive)}
	result := w.step()
	require.Zero(t, result.NextRotation)
	w.in.Revoke = nil
	w.settle()
	require.Equal(t, dawn.Add(30*day), w.step().NextRotation)
	w.in.Paused = true
	delete(w.notes, keyring.AnnotationRotated)
	require.Zero(t, w.step().NextRotation)
}

// TestKeyIDs checks that a new key never has the id of another.
func TestKeyIDs(t *testing.T) {
	taken := byHand("k-20261101-00000000", time.Time{})
	in := keyring.Input{
		Content: keyring.File{taken}.Content(), Annotations: map[string]string{keyring.AnnotationActive: taken.ID}, Now: dawn, Request: "now",
		RotateEvery: day, Overlap: time.Hour, Random: strings.NewReader(strings.Repeat("\x00", 32+4) + "\x01\x02\x03\x04"),
	}
	result, err := keyring.Step(in)
	require.NoError(t, err)
	require.Equal(t, "k-20261101-01020304", result.Keys[0].ID)
}

// TestSharedKeysWithoutAnnotations checks that the first key without an end is in use, and that no key waits for servers then.
func TestSharedKeysWithoutAnnotations(t *testing.T) {
	file := keyring.File{byHand("ends", dawn.Add(time.Hour)), byHand("first", time.Time{}), byHand("second", time.Time{})}
	in := keyring.Input{Kind: keyring.APIKeys, Content: file.Content(), Now: dawn, Random: rand.NewChaCha8([32]byte{}), Overlap: time.Hour}
	result, err := keyring.StepShared(in)
	require.NoError(t, err)
	require.Equal(t, "first", result.Annotations[keyring.AnnotationActive])
	_, found, err := keyring.CandidateShared(keyring.APIKeys, in.Content, result.Annotations)
	require.NoError(t, err)
	require.False(t, found)
	_, found, err = keyring.CandidateShared(keyring.APIKeys, keyring.Secret{}, nil)
	require.NoError(t, err)
	require.False(t, found)
}

func TestLongRequest(t *testing.T) {
	w := newWorld(t, 5)
	w.settle()
	w.in.Request = string(slices.Repeat([]byte("ü"), 10000))
	require.Equal(t, v1alpha1.ReasonRotationStarted, w.step().Events[0].Reason)
	w.settle()
	require.Len(t, w.note(keyring.AnnotationRequest), 39)
	w.now = w.now.Add(2 * time.Hour)
	w.settle()
	require.Equal(t, "k2 Active", w.keys(), "one rotation for one request")
}

// TestActiveSigningKeyIsFirst rotates signing keys: servers sign with the first valid one.
func TestActiveSigningKeyIsFirst(t *testing.T) {
	random := rand.NewChaCha8([32]byte{9})
	content, err := keyring.NewSigningKeys(random)
	require.NoError(t, err)
	in := keyring.Input{
		Kind: keyring.SigningKeys, Content: content, RotateEvery: time.Hour, Overlap: 24 * time.Hour, Now: dawn,
		Random: random,
	}
	first := func() string {
		var doc struct{ Keys []struct{ Kid string } }
		require.NoError(t, json.Unmarshal([]byte(in.Content.Reveal()), &doc))
		return doc.Keys[0].Kid
	}
	step := func() {
		candidate, found, err := keyring.CandidateShared(in.Kind, in.Content, in.Annotations)
		require.NoError(t, err)
		if in.Verified = ""; found {
			in.Verified = candidate
		}
		result, err := keyring.StepShared(in)
		require.NoError(t, err)
		in.Content, in.Annotations = result.Content, result.Annotations
	}
	step()
	before := in.Annotations[keyring.AnnotationActive]
	require.Equal(t, before, first())
	in.Now = in.Now.Add(2 * time.Hour)
	step()
	require.NotEmpty(t, in.Annotations[keyring.AnnotationPending])
	require.Equal(t, before, first(), "servers do not know the new key yet")
	step()
	require.NotEqual(t, before, in.Annotations[keyring.AnnotationActive])
	require.Equal(t, in.Annotations[keyring.AnnotationActive], first())
}
