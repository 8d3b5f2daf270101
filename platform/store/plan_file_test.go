package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
)

// Every upload of home us is long over, so that what is due is a page of many.
var _ = planned((*collector).collectFiles,
	`INSERT INTO files (home, id, owner_id, owner_public_id, type, access_type, feed_type, alt_text, name, extension, mime_type, size, width,
		height,
		exif, gps, sizes, sizes_mime_type, created_at, updated_at, uses_recorded)
		SELECT HOME(n), ID(i, n, n), ID(u, n, n), 'user-' || n::text, 'image', 'public', '', '', 'a.png', 'png', 'image/png', 1, 1, 1,
		'{}', '{}', '{}', '', AT(n, 60), AT(n, 60), true FROM generate_series(1, 20000) AS n`,
	`INSERT INTO uploads (home, id, expires_at, created_at) SELECT HOME(n), ID(j, n, n), AT(n, 60), AT(n, 60) FROM generate_series(1, 20000)
		AS n`,
)

func (c *collector) collectFiles() {
	id := worldID("i", 3, 3)
	var file *media.File
	var files []media.File
	var uploads []string
	c.reads(func(r *store.ReadBatch) { r.File(id, &file) })
	c.reads(func(r *store.ReadBatch) { r.AvatarFiles([]string{userID(1), userID(2)}, &files) })
	c.reads(func(r *store.ReadBatch) { r.FilesByID([]string{id, worldID("i", 4, 4), worldID("i", 6, 6)}, &files) })
	c.reads(func(r *store.ReadBatch) { r.UploadsDue(region.US, worldStart.Add(time.Minute), &uploads) })
	c.write(func(w *store.Tx) {
		f := media.File{
			ID: region.NewID(region.US), Type: "file", AccessType: "public", Exif: []byte("{}"), GPS: []byte("{}"),
			CreatedAt: worldStart, UpdatedAt: worldStart,
		}
		w.InsertUpload(f.ID, worldStart, worldStart)
		w.InsertFile(f, core.ErrConflict)
		w.UpdateAltText(id, "a tree", worldStart, core.ErrConflict, &file)
		w.DeleteFile(media.File{ID: id}, core.ErrConflict, worldStart, worldStart)
	})
	c.write(func(w *store.Tx) {
		w.AbandonUploads([]string{worldID("j", 3, 3)}, &uploads)
		w.DeleteUpload(worldID("j", 3, 3))
	})
}
