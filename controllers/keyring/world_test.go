package keyring_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
)

var dawn = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// world is a region with a Secret, servers that read it, and an operator that runs passes.
type world struct {
	t        testing.TB
	now      time.Time
	random   io.Reader
	in       keyring.Input // RotateEvery, Overlap, Request and Paused
	content  keyring.Secret
	notes    map[string]string
	servers  []*server
	down     bool // no server can be asked
	names    map[string]string
	last     keyring.Result
	happened []string
}

// server accepts the keys of the content that it loaded last and applies notAfter by itself, like the platform.
type server struct{ keys keyring.File }

func (s *server) accepts(id string, now time.Time) bool {
	entry, found := s.keys.Find(id)
	return found && entry.ValidAt(now)
}

func newWorld(t testing.TB, seed byte) *world {
	t.Helper()
	return &world{
		t: t, now: dawn, random: rand.NewChaCha8([32]byte{seed}), names: map[string]string{}, servers: []*server{{}, {}},
		in: keyring.Input{RotateEvery: keyring.DefaultRotateEvery, Overlap: time.Hour},
	}
}

// load makes every server read the Secret. Servers reject an invalid or empty file and keep their keys.
func (w *world) load() {
	for _, s := range w.servers {
		if file, err := keyring.ParseFile(w.content); err == nil && len(file) > 0 {
			s.keys = file
		}
	}
}

func (w *world) verified() string {
	entry, found, err := keyring.Candidate(w.content, w.notes)
	require.NoError(w.t, err)
	if !found || w.down {
		return ""
	}
	for _, s := range w.servers {
		if !s.accepts(entry.ID, w.now) {
			return ""
		}
	}
	return entry.ID
}

// step runs one pass of the operator and writes its result.
func (w *world) step() keyring.Result {
	w.t.Helper()
	in := w.in
	in.Content, in.Annotations, in.Now, in.Random, in.Verified = w.content, w.notes, w.now, w.random, w.verified()
	before, err := keyring.ParseFile(w.content)
	require.NoError(w.t, err)
	result, err := keyring.Step(in)
	require.NoError(w.t, err)
	if result.Changed {
		w.content, w.notes = result.Content, result.Annotations
	}
	after, err := keyring.ParseFile(w.content)
	require.NoError(w.t, err)
	for _, entry := range before {
		if entry.ValidAt(w.now) && !slices.Contains(in.Revoke, entry.ID) {
			kept, found := after.Find(entry.ID)
			require.True(w.t, found && kept.Key.Equal(entry.Key), "%s was valid and is gone", entry.ID)
		}
	}
	w.last = result
	for _, event := range result.Events {
		w.happened = append(w.happened, string(event.Reason)+" "+w.name(event.KeyID))
	}
	return result
}

// settle runs passes until nothing changes, with servers that read the Secret between them.
func (w *world) settle() {
	w.t.Helper()
	for range 10 {
		w.load()
		if !w.step().Changed {
			return
		}
	}
	require.FailNow(w.t, "the keys do not settle")
}

// name gives keys short names in the order of their first appearance.
func (w *world) name(id string) string {
	if !strings.HasPrefix(id, "k-2") {
		return id
	}
	if w.names[id] == "" {
		w.names[id] = fmt.Sprintf("k%d", len(w.names)+1)
	}
	return w.names[id]
}

// keys formats the keys like the status: k2 Active, k1 Retiring 1h0m0s.
func (w *world) keys() string {
	var all []string
	for _, key := range w.last.Keys {
		text := w.name(key.ID) + " " + string(key.State)
		if !key.NotAfter.IsZero() {
			text += " " + key.NotAfter.Sub(w.now).String()
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// events returns the events since the last call.
func (w *world) events() string {
	all := strings.Join(w.happened, ", ")
	w.happened = nil
	return all
}

// edit edits the file by hand.
func (w *world) edit(change func(keyring.File) keyring.File) {
	w.t.Helper()
	file, err := keyring.ParseFile(w.content)
	require.NoError(w.t, err)
	w.content = change(file).Content()
}

// removed returns an edit that removes the key with a state.
func removed(w *world, state v1alpha1.KeyState) func(keyring.File) keyring.File {
	return func(file keyring.File) keyring.File {
		var kept keyring.File
		for _, entry := range file {
			if id := w.idOf(state); entry.ID != id {
				kept = append(kept, entry)
			}
		}
		return kept
	}
}

func (w *world) idOf(state v1alpha1.KeyState) string {
	for _, key := range w.last.Keys {
		if key.State == state {
			return key.ID
		}
	}
	return "none"
}

// byHand is a key that a user adds to the file.
func byHand(id string, notAfter time.Time) keyring.Entry {
	return keyring.Entry{ID: id, Key: keyring.NewSecret(strings.Repeat(id, 16)), NotAfter: notAfter}
}

func (w *world) endless() int {
	file, err := keyring.ParseFile(w.content)
	require.NoError(w.t, err)
	n := 0
	for _, entry := range file {
		if entry.NotAfter.IsZero() {
			n++
		}
	}
	return n
}

func (w *world) note(name string) string { return w.notes[name] }
