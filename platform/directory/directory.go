// Package directory maps the user ids chosen by clients to internal ids.
//
// The authoritative row of a user id is at the home determined by its keyed hash. A home that looked an id up keeps a
// copy, so that an unavailable region only affects users whose data it stores. Entries never change until their user
// is erased; servers cache them for a minute.
package directory

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/people"
)

// cacheSize is the maximum number of cached entries, of about 200 bytes each.
const cacheSize = 20_000

// Directory looks up user ids. It is safe for concurrent use.
type Directory struct {
	store *store.Store
	local region.Code
	key   []byte
	now   func() time.Time
	log   *slog.Logger
	known *lru.Cache[string, cached]
}

// cacheTime is how long servers continue to find the entry of a user who was erased.
const cacheTime = time.Minute

// cached is a cached entry.
type cached struct {
	userID string
	until  time.Time
}

// New returns a directory for a server of the region local. key must be the same in every region.
func New(st *store.Store, local region.Code, key []byte, now func() time.Time, log *slog.Logger) *Directory {
	known, err := lru.New[string, cached](cacheSize)
	if err != nil {
		panic(err) // the size is a positive constant
	}
	return &Directory{store: st, local: local, key: key, now: now, log: log, known: known}
}

// hash returns the keyed hash of a user id, so that indexes contain no personal data.
func (d *Directory) hash(publicID string) []byte {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(publicID))
	return mac.Sum(nil)
}

// deciding returns the home of the authoritative row of a hash.
func deciding(hash []byte) region.Code {
	all := region.All()
	return all[int(hash[0])%len(all)]
}

// HomeOf returns the home of the authoritative row of a public id. While it is away, the id cannot be claimed.
func (d *Directory) HomeOf(publicID string) region.Code { return deciding(d.hash(publicID)) }

// Resolve returns the internal ids of public ids; unknown ids are absent from the result. An internal id that is not
// some user's public id maps to itself, because some operations of the API accept either.
func (d *Directory) Resolve(ctx context.Context, ids ...string) (map[string]string, error) {
	found, err := d.lookUpAll(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if found[id] == "" && region.ValidID(id) {
			found[id] = id
		}
	}
	return found, nil
}

// Lookup returns the internal id of a public id, or "" if it is unknown. Unlike Resolve it does not accept internal
// ids; signing in depends on that.
func (d *Directory) Lookup(ctx context.Context, publicID string) (string, error) {
	found, err := d.lookUpAll(ctx, []string{publicID})
	return found[publicID], err
}

func (d *Directory) lookUpAll(ctx context.Context, publicIDs []string) (map[string]string, error) {
	found := make(map[string]string, len(publicIDs))
	var unknown []string
	for _, id := range publicIDs {
		if entry, ok := d.known.Get(id); ok && d.now().Before(entry.until) && !d.store.Routes().Erased(entry.userID) {
			found[id] = entry.userID
		} else {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) == 0 {
		return found, nil
	}
	unknown, err := d.lookUp(ctx, unknown, found, func([]byte) region.Code { return d.local })
	if err != nil {
		// The local copies are unavailable, but the authoritative rows may not be.
		d.log.WarnContext(ctx, "directory copies not readable", "home", d.local, "error", err)
	}
	if len(unknown) == 0 {
		return found, nil
	}
	return found, d.askDeciding(ctx, unknown, found, err != nil)
}

// ResolveOne returns the internal id of an id as Resolve does, or "" if it is unknown.
func (d *Directory) ResolveOne(ctx context.Context, publicID string) (string, error) {
	found, err := d.Resolve(ctx, publicID)
	return found[publicID], err
}

// Known returns the internal id of a public id that this server looked up recently, or "".
func (d *Directory) Known(publicID string) string {
	entry, _ := d.known.Get(publicID)
	return entry.userID
}

// Pseudonym returns a text that replaces the id of an unknown user, the same for each of its occurrences. It does not
// reveal the id.
func (d *Directory) Pseudonym(publicID string) string {
	return "unknown:" + hex.EncodeToString(d.named("pseudonym", publicID)[:16])
}

// lookUp reads the entries of ids at the homes determined by at, adds them to found and returns the ids without an
// entry.
func (d *Directory) lookUp(ctx context.Context, ids []string, found map[string]string, at func(hash []byte) region.Code) ([]string, error) {
	byHash := make(map[string]string, len(ids))
	hashes := map[region.Code][][]byte{}
	for _, id := range ids {
		h := d.hash(id)
		byHash[string(h)] = id
		hashes[at(h)] = append(hashes[at(h)], h)
	}
	reads := d.store.NewReadBatch()
	var parts []*[]people.DirectoryEntry
	for home, hs := range hashes {
		part := new([]people.DirectoryEntry)
		parts = append(parts, part)
		reads.Directory(home, hs, part)
	}
	if err := reads.Run(ctx); err != nil {
		return ids, err
	}
	for _, part := range parts {
		for _, e := range *part {
			id := byHash[string(e.Hash)]
			found[id] = e.UserID
			d.remember(id, e.UserID)
		}
	}
	var unknown []string
	for _, id := range ids {
		if found[id] == "" {
			unknown = append(unknown, id)
		}
	}
	return unknown, nil
}

// askDeciding looks ids up in their authoritative rows and stores copies of what it finds at the local home. Ids whose
// authoritative row is local were already looked up, unless the local home is unavailable.
func (d *Directory) askDeciding(ctx context.Context, ids []string, found map[string]string, localAway bool) error {
	var elsewhere []string
	for _, id := range ids {
		if localAway || deciding(d.hash(id)) != d.local {
			elsewhere = append(elsewhere, id)
		}
	}
	if len(elsewhere) == 0 {
		return nil
	}
	unknown, err := d.lookUp(ctx, elsewhere, found, deciding)
	if err != nil {
		unknown = d.askCopies(ctx, unknown, found)
	}
	d.keepCopies(ctx, elsewhere, found)
	if err != nil && len(unknown) > 0 {
		return err // only the authoritative row can prove that a user does not exist
	}
	return nil
}

// askCopies looks ids up at all other homes when an authoritative home is unavailable: at least the home of the user's
// data, where the user first signed in, has a copy. It returns the ids without a copy.
func (d *Directory) askCopies(ctx context.Context, ids []string, found map[string]string) []string {
	for _, home := range region.All() {
		if home == d.local || len(ids) == 0 {
			continue
		}
		rest, err := d.lookUp(ctx, ids, found, func([]byte) region.Code { return home })
		if err == nil {
			ids = rest
		}
	}
	return ids
}

func (d *Directory) keepCopies(ctx context.Context, ids []string, found map[string]string) {
	w := d.newTx(d.local)
	n := 0
	for _, id := range ids {
		if found[id] != "" {
			w.UpsertDirectoryCopy(people.DirectoryEntry{Hash: d.hash(id), UserID: found[id]}, d.now())
			n++
		}
	}
	if n == 0 {
		return
	}
	if err := w.Commit(ctx); err != nil {
		d.log.WarnContext(ctx, "directory copies not stored", "home", d.local, "error", err)
	}
}

// KeepCopy stores a copy of the entry of a user at a home.
func (d *Directory) KeepCopy(ctx context.Context, home region.Code, publicID, userID string) error {
	tx := d.newTx(home)
	tx.UpsertDirectoryCopy(people.DirectoryEntry{Hash: d.hash(publicID), UserID: userID}, d.now())
	return tx.Commit(ctx)
}

// newTx returns a transaction that is no change for the audit: an entry that a failed request leaves behind has no effect.
func (d *Directory) newTx(home region.Code) *store.Tx {
	tx := d.store.NewTx(home)
	tx.WithoutRecord()
	return tx
}

// Claim returns the internal id of a public id and sets it to newID if there is none. Concurrent claims in several
// regions return the same id, because a single row is authoritative.
func (d *Directory) Claim(ctx context.Context, publicID, newID string) (string, error) {
	home, claimed := d.HomeOf(publicID), map[string]string{}
	if err := d.claimAt(ctx, home, []string{publicID}, map[string]string{publicID: newID}, claimed); err != nil {
		return "", err
	}
	if home != d.local {
		d.keepCopies(ctx, []string{publicID}, claimed)
	}
	return claimed[publicID], nil
}

// remember caches an entry, unless the user is being erased: nothing may find the user by it later.
func (d *Directory) remember(publicID, userID string) {
	if d.store.Routes().Erased(userID) {
		return
	}
	d.known.Add(publicID, cached{userID, d.now().Add(cacheTime)})
}

// Refresh looks up a public id without the cache. It returns "" if the id is unknown or the lookup fails.
func (d *Directory) Refresh(ctx context.Context, publicID string) string {
	d.known.Remove(publicID)
	userID, err := d.Lookup(ctx, publicID)
	if err != nil {
		return ""
	}
	return userID
}

// Release deletes the entries of a public id in every home, so that the id is free. It has no effect on the entry of
// another user, who claimed the id since. Servers that have cached the entry find it for another minute.
func (d *Directory) Release(ctx context.Context, publicID, userID string) error {
	d.known.Remove(publicID)
	return d.store.CommitAtHomes(ctx, func(tx *store.Tx) {
		tx.WithoutRecord()
		d.ReleaseIn(tx, publicID, userID)
	})
}

// ReleaseIn is Release for the home of a transaction.
func (d *Directory) ReleaseIn(tx *store.Tx, publicID, userID string) {
	d.known.Remove(publicID)
	tx.DeleteDirectoryEntry(people.DirectoryEntry{Hash: d.hash(publicID), UserID: userID})
}
