package store_test

import (
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
)

// Many objects refer to the file 3 and to files in the place 3, and every release of home us is due.
var _ = planned((*collector).collectFileUses,
	`INSERT INTO file_uses (home, file_id, object_id, kind, author_id, place_id)
		SELECT HOME(h), ID(i, f, h), ID(p, n, h), 'post', ID(u, n, n), ID(c, c, h)
		FROM (SELECT n, CASE WHEN n % 4 = 0 THEN 3 ELSE n END AS f, CASE WHEN n % 3 = 0 THEN 3 ELSE n END AS c,
			CASE WHEN n % 12 = 0 THEN 3 ELSE n END AS h FROM generate_series(1, 20000) AS n) AS uses`,
	`INSERT INTO file_releases (home, file_id, author_id) SELECT HOME(n), ID(i, n, n), ID(u, n, n) FROM generate_series(1, 20000) AS n`,
)

func (c *collector) collectFileUses() {
	file, place, object := worldID("i", 3, 3), worldID("c", 3, 3), worldID("p", 12, 3)
	var uses []core.FileUse
	var used bool
	var due []media.FileRelease
	c.reads(func(r *store.ReadBatch) { r.FileUses(file, 50, &uses) })
	c.reads(func(r *store.ReadBatch) { r.FileIsUsed(file, &used) })
	c.reads(func(r *store.ReadBatch) { r.FileUsesInPlace(place, core.FileUse{}, 500, &uses) })
	c.reads(func(r *store.ReadBatch) {
		r.FileUsesInPlace(place, core.FileUse{FileID: file, ObjectID: object, Kind: core.UsePost}, 500, &uses)
	})
	c.reads(func(r *store.ReadBatch) { r.FileReleasesDue(region.US, worldStart, &due) })
	c.write(func(w *store.Tx) { w.ReleaseFiles([]string{object, worldID("p", 24, 3)}) })
	c.write(func(w *store.Tx) {
		w.UpdateCommunity(place, communities.CommunityChange{AvatarFileID: &file}, worldStart, new(*communities.Community))
		w.DeletePendingEdits(object)
	})
	c.write(func(w *store.Tx) {
		release := media.FileRelease{ID: "c56a4180-65aa-42ec-a945-5fd21dec0538"}
		w.DelayFileRelease(release, worldStart)
		w.DeleteFileRelease(release)
		w.EmitReleasePlace(place, worldStart, worldStart)
		w.EmitRestrictPlace(place, worldStart, worldStart)
	})
	c.write(func(w *store.Tx) {
		unused := worldID("i", 12, 12)
		w.RestrictFiles([]string{unused}, userID(12))
		w.MarkFileUnused(unused, worldStart)
		w.GuardFileUnused(media.File{ID: unused, UnusedSince: &worldStart}, core.ErrConflict)
		w.MarkFileUsed(unused)
	})
}
