package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// Category is a row of categories.
type Category struct {
	ID           string
	Name         string
	NameKey      string // its place in lists by name
	Metadata     []byte // JSON object
	AvatarFileID string
	CreatedAt    time.Time
	UpdatedAt    time.Time
	DeletedAt    *time.Time
}

const categoryColumns = `id, name, name_key, metadata, avatar_file_id, created_at, updated_at, deleted_at`

func scanCategory(rows pgx.Rows) (Category, error) {
	var c Category
	err := rows.Scan(&c.ID, &c.Name, &c.NameKey, &c.Metadata, &c.AvatarFileID, &c.CreatedAt, &c.UpdatedAt, &c.DeletedAt)
	return c, err
}

// The categories of a community that stand in the community's own home. Those of other homes are known by the community's
// list alone, and are read by id.
const categoriesIn = `SELECT ` + categoryColumns + ` FROM categories WHERE home = $1 AND categories.id = ANY(ARRAY
	(SELECT category_id FROM community_categories WHERE home = $1 AND community_id = `

var (
	sqlCategoriesByID        = stmt("categories.byID", `SELECT `+categoryColumns+` FROM categories WHERE home = $1 AND id = ANY($2::text[])`)
	sqlCategoriesOfCommunity = stmt("categories.ofCommunity", categoriesIn+`$2))`)
	sqlCategoriesOfPost      = stmt("categories.ofPost", categoriesIn+communityOfPost+`))`)
	sqlCategoriesOfComment   = stmt("categories.ofComment", categoriesIn+communityOfComment+`))`)
	sqlCategoryInsert        = stmt("categories.insert", `INSERT INTO categories (home, id, name, name_key, metadata, avatar_file_id,
		created_at, updated_at) VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $7)`)
	sqlCategoryIsLive = stmt("categories.isLive", `SELECT 1 / count(*) FROM categories WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlCategoryUpdate = stmt("categories.update", `UPDATE categories SET name = COALESCE($3::text, name), name_key = COALESCE($4::text, name_key),
		metadata = COALESCE($5::jsonb, metadata), avatar_file_id = COALESCE($6::text, avatar_file_id), updated_at = $7
		WHERE home = $1 AND id = $2 RETURNING `+categoryColumns)
	sqlCategoryDelete = stmt("categories.delete", `UPDATE categories SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
)

// Categories reads categories of any homes, deleted ones too; their order is not defined.
func (r *ReadBatch) Categories(ids []string, into *[]Category) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]Category)
		r.add(home, sqlCategoriesByID, scanAll(part, scanCategory), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// CategoriesOfCommunity reads those categories of a community that live in the community's home.
func (r *ReadBatch) CategoriesOfCommunity(communityID string, into *[]Category) {
	r.ofContent(communityID, sqlCategoriesOfCommunity, scanAll(into, scanCategory))
}

// CategoriesOfPost reads those categories of the community a post is in that live in its home.
func (r *ReadBatch) CategoriesOfPost(postID string, into *[]Category) {
	r.ofContent(postID, sqlCategoriesOfPost, scanAll(into, scanCategory))
}

// CategoriesOfComment reads those categories of the community a comment is in that live in its home.
func (r *ReadBatch) CategoriesOfComment(commentID string, into *[]Category) {
	r.ofContent(commentID, sqlCategoriesOfComment, scanAll(into, scanCategory))
}

// InsertCategory inserts a category.
func (w *Tx) InsertCategory(c Category, now time.Time) {
	w.once = "categories_pkey"
	w.exec(sqlCategoryInsert, c.ID, c.Name, NameKey(c.Name, PublicNameKeyRunes), c.Metadata, c.AvatarFileID, now)
}

// CategoryChange holds the fields of a category to change; nil ones stay.
type CategoryChange struct {
	Name, AvatarFileID *string
	Metadata           []byte // JSON object
}

// UpdateCategory changes a category and reads it back; one that is gone makes the transaction fail with 400400.
func (w *Tx) UpdateCategory(id string, c CategoryChange, now time.Time, into **Category) {
	var key *string
	if c.Name != nil {
		k := NameKey(*c.Name, PublicNameKeyRunes)
		key = &k
	}
	w.guard(sqlCategoryIsLive, fail.NotFound(), id)
	w.query(sqlCategoryUpdate, scanOne(into, scanCategory), id, c.Name, key, c.Metadata, c.AvatarFileID, now)
}

// DeleteCategory marks a category as deleted; one that is gone makes the transaction fail with 400400.
func (w *Tx) DeleteCategory(id string, now time.Time) {
	w.guard(sqlCategoryIsLive, fail.NotFound(), id)
	w.exec(sqlCategoryDelete, id, now)
}

// CategoryList is a page of categories to read from every home.
type CategoryList struct {
	Deleted bool
	ByName  bool
	Desc    bool
	// The position after which the page starts.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// categoryLists holds the statements of ListCategories by order.
var categoryLists = makeCategoryLists()

func makeCategoryLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc, orderNameDesc, orderNameAsc} {
		key, kind := "created_at", "timestamptz"
		if o == orderNameDesc || o == orderNameAsc {
			key, kind = "name_key", "text"
		}
		lists[o.name] = stmt("categories.list."+o.name, `SELECT `+categoryColumns+` FROM categories WHERE home = $1
			AND (deleted_at IS NOT NULL) = $2::boolean AND `+o.after(key, "id", "$3::"+kind, "$4")+
			` ORDER BY `+o.by(key, "id")+` LIMIT $5::bigint`)
	}
	return lists
}

// ListCategories reads up to Limit categories of each home, home by home.
func (r *ReadBatch) ListCategories(l CategoryList, into *[]Category) {
	*into = nil
	for _, home := range region.All() {
		part := new([]Category)
		if l.ByName {
			r.add(home, categoryLists[pick(l.Desc, orderNameDesc, orderNameAsc).name], scanAll(part, scanCategory), l.Deleted, l.AfterKey, l.AfterID, l.Limit)
		} else {
			r.add(home, categoryLists[pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name], scanAll(part, scanCategory), l.Deleted, l.AfterTime, l.AfterID, l.Limit)
		}
		r.Then(func() { *into = append(*into, *part...) })
	}
}
