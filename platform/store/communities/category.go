package communities

import (
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Category is a row of categories.
type Category struct {
	ID           string
	Name         string
	NameKey      string // the key of lists by name
	Metadata     []byte // JSON object
	AvatarFileID string
	CreatedAt    time.Time
	UpdatedAt    time.Time
	DeletedAt    *time.Time
}

var categoryColumns = db.Columns[Category]()

// categoriesIn selects the categories of a community that are stored in the community's home. Categories of other homes
// are read by the ids in the community's row.
var categoriesIn = `SELECT ` + categoryColumns + ` FROM categories WHERE home = $1 AND categories.id = ANY(ARRAY
	(SELECT category_id FROM community_categories WHERE home = $1 AND community_id = `

var (
	sqlCategoriesByID        = db.Register("categories.byID", `SELECT `+categoryColumns+` FROM categories WHERE home = $1 AND id = ANY($2::text[])`)
	sqlCategoriesOfCommunity = db.Register("categories.ofCommunity", categoriesIn+`$2))`)
	sqlCategoryInsert        = db.Register("categories.insert", `INSERT INTO categories (home, id, name, name_key, metadata, avatar_file_id,
		created_at, updated_at) VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $7)`)
	sqlCategoryGuard  = db.Register("categories.isLive", `SELECT 1 / count(*) FROM categories WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlCategoryUpdate = db.Register("categories.update", `UPDATE categories SET name = COALESCE($3::text, name), name_key = COALESCE($4::text,
		name_key),
		metadata = COALESCE($5::jsonb, metadata), avatar_file_id = COALESCE($6::text, avatar_file_id), updated_at = $7
		WHERE home = $1 AND id = $2 RETURNING `+categoryColumns)
	sqlCategoryDelete = db.Register("categories.delete", `UPDATE categories SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
)

// Categories reads categories of any homes, including deleted ones, in no particular order.
func (r ReadBatch) Categories(ids []string, into *[]Category) {
	core.ReadMany(r.ReadBatch, ids, sqlCategoriesByID, into)
}

// CategoriesOfCommunity reads the categories of a community that are stored in the community's home.
func (r ReadBatch) CategoriesOfCommunity(communityID string, into *[]Category) {
	r.AddAt(communityID, sqlCategoriesOfCommunity, db.Rows(into), communityID)
}

// InsertCategory inserts a category.
func (w Tx) InsertCategory(c Category, now time.Time) {
	w.IdempotentBy("categories_pkey")
	w.Exec(sqlCategoryInsert, c.ID, c.Name, core.NameKey(c.Name, core.PublicNameKeyRunes), c.Metadata, c.AvatarFileID, now)
	w.InsertFileUses(core.FileUse{ObjectID: c.ID, Kind: core.UseCategory}, []string{c.AvatarFileID})
}

// CategoryChange contains the fields of a category to change; nil fields are unchanged.
type CategoryChange struct {
	Name, AvatarFileID *string
	Metadata           []byte // JSON object
}

// UpdateCategory changes a category and reads it back. The transaction fails with 400400 if the category is deleted.
func (w Tx) UpdateCategory(id string, c CategoryChange, now time.Time, into **Category) {
	w.Guard(sqlCategoryGuard, fail.NotFound(), id)
	w.Query(sqlCategoryUpdate, db.Row(into), id, c.Name, core.KeyOf(c.Name, core.PublicNameKeyRunes), c.Metadata, c.AvatarFileID, now)
	w.ReplaceFile(core.FileUse{ObjectID: id, Kind: core.UseCategory}, c.AvatarFileID)
}

// DeleteCategory marks a category as deleted. The transaction fails with 400400 if it is deleted already.
func (w Tx) DeleteCategory(id string, now time.Time) {
	w.Guard(sqlCategoryGuard, fail.NotFound(), id)
	w.Exec(sqlCategoryDelete, id, now)
}

// CategoryList is a page of the categories of all homes.
type CategoryList struct {
	Deleted bool
	ByName  bool
	Desc    bool
	// The position that the page starts after.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// The statements of ListCategories.
var (
	categories = core.Source{
		Name: "categories.list.", Columns: categoryColumns,
		From: `categories WHERE home = $1 AND (deleted_at IS NOT NULL) = $2::boolean`, After: 3,
	}
	categoriesByCreation = core.OrderedBy(core.CreatedOrders, "created_at", categories.List)
	categoriesByName     = core.OrderedBy(core.NameOrders, "name_key", categories.List)
)

// ListCategories reads up to Limit categories of each home, home by home.
func (r ReadBatch) ListCategories(l CategoryList, into *[]Category) {
	*into = nil
	if l.ByName {
		core.ReadEveryHome(r.ReadBatch, categoriesByName.In(l.Desc), into, l.Deleted, l.AfterKey, l.AfterID, l.Limit)
		return
	}
	core.ReadEveryHome(r.ReadBatch, categoriesByCreation.In(l.Desc), into, l.Deleted, l.AfterTime, l.AfterID, l.Limit)
}
