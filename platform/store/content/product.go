package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Product is a row of products.
type Product struct {
	ID            string
	Name          string
	NameKey       string // the key of lists by name
	URL           string
	Status        string // ProductActive or ProductArchived
	Price         *float64
	Currency      string // empty without a price
	ThumbnailURL  string
	ThumbnailMode string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	DeletedAt     *time.Time
}

// The states of products.
const (
	ProductActive   = "active"
	ProductArchived = "archived"
)

var productColumns = db.Columns[Product]()

var (
	sqlProductsByID  = db.Register("products.byID", `SELECT `+productColumns+` FROM products WHERE home = $1 AND id = ANY($2::text[])`)
	sqlProductInsert = db.Register("products.insert", `INSERT INTO products (home, id, name, name_key, url, status, price, currency, thumbnail_url,
		thumbnail_mode, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7::float8, $8, $9, $10, $11, $11)`)
	sqlProductGuard  = db.Register("products.isLive", `SELECT 1 / count(*) FROM products WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlProductUpdate = db.Register("products.update", `UPDATE products SET name = COALESCE($3::text, name), name_key = COALESCE($4::text, name_key),
		url = COALESCE($5::text, url), status = COALESCE($6::text, status), price = COALESCE($7::float8, price),
		currency = COALESCE($8::text, currency), thumbnail_url = COALESCE($9::text, thumbnail_url),
		thumbnail_mode = COALESCE($10::text, thumbnail_mode), updated_at = $11 WHERE home = $1 AND id = $2 RETURNING `+productColumns)
	sqlProductDelete = db.Register("products.delete", `UPDATE products SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
)

// Products reads products of any homes, including deleted ones, in no particular order.
func (r ReadBatch) Products(ids []string, into *[]Product) {
	core.ReadMany(r.ReadBatch, ids, sqlProductsByID, into)
}

// InsertProduct inserts a product.
func (w Tx) InsertProduct(p Product) {
	w.IdempotentBy("products_pkey")
	w.Exec(sqlProductInsert, p.ID, p.Name, core.NameKey(p.Name, core.PublicNameKeyRunes), p.URL, p.Status, p.Price, p.Currency, p.ThumbnailURL,
		p.ThumbnailMode, p.CreatedAt)
}

// ProductChange contains the fields of a product to change; nil fields are unchanged.
type ProductChange struct {
	Name, URL, Status, Currency, ThumbnailURL, ThumbnailMode *string
	Price                                                    *float64
}

// UpdateProduct changes a product and reads it back. The transaction fails with 400400 if the product is deleted.
func (w Tx) UpdateProduct(id string, c ProductChange, now time.Time, into **Product) {
	w.Guard(sqlProductGuard, fail.NotFound(), id)
	w.Query(sqlProductUpdate, db.Row(into), id, c.Name, core.KeyOf(c.Name, core.PublicNameKeyRunes), c.URL, c.Status, c.Price, c.Currency,
		c.ThumbnailURL, c.ThumbnailMode, now)
}

// DeleteProduct marks a product as deleted. The transaction fails with 400400 if it is deleted already.
func (w Tx) DeleteProduct(id string, now time.Time) {
	w.Guard(sqlProductGuard, fail.NotFound(), id)
	w.Exec(sqlProductDelete, id, now)
}

// The orders of lists of products.
const (
	ProductsByCreation = "createdAt"
	ProductsByUpdate   = "updatedAt"
	ProductsByName     = "productName"
)

// ProductList is a page of the products of all homes.
type ProductList struct {
	Prefix  string // of the name, in lists by name
	Status  string // empty for all
	Deleted bool
	Order   string
	Desc    bool
	// The position that the page starts after.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

var (
	productsByTime = core.OrderedByTime(products("").List)
	productsByName = core.OrderedBy(core.NameOrders, "name_key", products(`
		AND name_key >= $6::text AND name_key < $7::text AND lower(name) LIKE $8::text`).List)
)

func products(filter string) core.Source {
	return core.Source{
		Name: "products.list.", Columns: productColumns, From: `products WHERE home = $1 AND state = $2`, Filter: filter, After: 3,
	}
}

// ListProducts reads up to Limit products of each home and state, in no particular order.
func (r ReadBatch) ListProducts(l ProductList, into *[]Product) {
	*into = nil
	low, high := core.PrefixRange(core.NameKey(l.Prefix, core.PublicNameKeyRunes))
	for _, state := range l.states() {
		if l.Order == ProductsByName {
			core.ReadEveryHome(r.ReadBatch, productsByName.In(l.Desc), into, state, l.AfterKey, l.AfterID, l.Limit, low, high,
				core.LikePrefix(l.Prefix))
			continue
		}
		core.ReadEveryHome(r.ReadBatch, productsByTime.In(l.Order == ProductsByUpdate, l.Desc), into, state, l.AfterTime, l.AfterID, l.Limit)
	}
}

// states returns the values of the column state that the list contains.
func (l ProductList) states() []string {
	states := []string{ProductActive, ProductArchived}
	if l.Status != "" {
		states = []string{l.Status}
	}
	if l.Deleted {
		for i := range states {
			states[i] = "deleted " + states[i]
		}
	}
	return states
}
