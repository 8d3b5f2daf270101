// Package directory tells which internal id a client's own user id has.
//
// The deciding row of a user id lives at the home that its keyed hash names; a home that has looked it up keeps a copy,
// so that a region that is away stops nobody whose data lives elsewhere. An entry never changes, so a server remembers
// the ones that it has seen.
package directory

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// remembered is how many entries a server keeps in memory, some 200 bytes each.
const remembered = 20_000

// Directory looks user ids up. Safe for use by several goroutines.
type Directory struct {
	store *store.Store
	local region.Code
	key   []byte
	now   func() time.Time
	log   *slog.Logger
	known *lru.Cache[string, string]
}

// New makes a directory for a server of the region local. key is the same in every region.
func New(st *store.Store, local region.Code, key []byte, now func() time.Time, log *slog.Logger) *Directory {
	known, err := lru.New[string, string](remembered)
	if err != nil {
		panic(err) // the size is a positive constant
	}
	return &Directory{store: st, local: local, key: key, now: now, log: log, known: known}
}

// hash is the keyed hash of a user id: no personal data stands in an index key.
func (d *Directory) hash(publicID string) []byte {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(publicID))
	return mac.Sum(nil)
}

// deciding is the home whose row decides what id a hash has.
func deciding(hash []byte) region.Code {
	all := region.All()
	return all[int(hash[0])%len(all)]
}

// Resolve returns the internal ids of public ids; an unknown one is absent from the answer. An internal id stands for
// itself where no user has it as a public id, because some operations of the interface take either.
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

// Lookup returns the internal id of one public id, empty where it is unknown. Unlike Resolve it takes nothing else for
// a user: it is what signing in rests on.
func (d *Directory) Lookup(ctx context.Context, publicID string) (string, error) {
	found, err := d.lookUpAll(ctx, []string{publicID})
	return found[publicID], err
}

func (d *Directory) lookUpAll(ctx context.Context, publicIDs []string) (map[string]string, error) {
	found := make(map[string]string, len(publicIDs))
	var unknown []string
	for _, id := range publicIDs {
		if internal, ok := d.known.Get(id); ok {
			found[id] = internal
		} else {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) == 0 {
		return found, nil
	}
	unknown, err := d.lookUp(ctx, unknown, found, func([]byte) region.Code { return d.local })
	if err != nil {
		// The copies are away, the deciding rows may not be.
		d.log.WarnContext(ctx, "directory copies not readable", "home", d.local, "error", err)
	}
	if len(unknown) == 0 {
		return found, nil
	}
	return found, d.askDeciding(ctx, unknown, found, err != nil)
}

// ResolveOne returns the internal id of one public id, empty where it is unknown.
func (d *Directory) ResolveOne(ctx context.Context, publicID string) (string, error) {
	found, err := d.Resolve(ctx, publicID)
	return found[publicID], err
}

// lookUp reads the entries of ids at the homes that at says, adds them to found and returns the ids that are still
// unknown.
func (d *Directory) lookUp(ctx context.Context, ids []string, found map[string]string, at func(hash []byte) region.Code) ([]string, error) {
	byHash := make(map[string]string, len(ids))
	hashes := map[region.Code][][]byte{}
	for _, id := range ids {
		h := d.hash(id)
		byHash[string(h)] = id
		hashes[at(h)] = append(hashes[at(h)], h)
	}
	reads := d.store.NewReadBatch()
	var parts []*[]store.DirectoryEntry
	for home, hs := range hashes {
		part := new([]store.DirectoryEntry)
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
			d.known.Add(id, e.UserID)
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

// askDeciding looks ids up where they are decided, and keeps copies of what it finds at the local home. Ids that are
// decided at the local home were looked up there already, unless it is away.
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
		return err // nobody but the home that decides can tell that there is no such user
	}
	return nil
}

// askCopies looks ids up at all other homes, because one that decides is away: there is a copy at least where a user
// signed in first, which is where the user's data is. It returns the ids that nobody has a copy of.
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
	w := d.store.NewTx(d.local)
	n := 0
	for _, id := range ids {
		if found[id] != "" {
			w.UpsertDirectoryCopy(store.DirectoryEntry{Hash: d.hash(id), UserID: found[id]}, d.now())
			n++
		}
	}
	if n == 0 {
		return
	}
	if err := w.Commit(ctx); err != nil {
		d.log.WarnContext(ctx, "directory copies not kept", "home", d.local, "error", err)
	}
}

// Claim returns the internal id of a public id, and makes it newID where there is none yet. Claims from several regions
// at once agree: one row decides.
func (d *Directory) Claim(ctx context.Context, publicID, newID string) (string, error) {
	h := d.hash(publicID)
	var stands []store.DirectoryEntry
	w := d.store.NewTx(deciding(h))
	w.InsertDirectoryEntry(store.DirectoryEntry{Hash: h, UserID: newID}, d.now(), &stands)
	if err := w.Commit(ctx); err != nil {
		return "", err
	}
	internal := stands[0].UserID
	d.known.Add(publicID, internal)
	if deciding(h) != d.local {
		d.keepCopies(ctx, []string{publicID}, map[string]string{publicID: internal})
	}
	return internal, nil
}
