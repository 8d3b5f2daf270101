package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
)

// One in 50 of 30,000 products is deleted, and one in 5 archived.
var _ = planned((*collector).collectProducts, `INSERT INTO products
	(home, id, name, name_key, url, status, price, currency, thumbnail_url, thumbnail_mode, created_at, updated_at, deleted_at)
	SELECT HOME(n), ID(pr, n, n), md5(n::text), substr(md5(n::text), 1, 12), 'https://shop.example', CASE WHEN n % 5 = 0 THEN 'archived' ELSE
	'active' END,
		n, 'EUR', '', '', AT(n, 60), AT(n, 60), CASE WHEN n % 50 = 7 THEN AT(n, 60) END FROM generate_series(1, 30000) AS n`)

func (c *collector) collectProducts() {
	id := worldID("pr", 3, 3)
	var rows []content.Product
	var one *content.Product
	name, price := "Rope", 9.5
	c.reads(func(r *store.ReadBatch) { r.Products([]string{id, worldID("pr", 4, 4)}, &rows) })
	both(30_000*60, func(desc bool, at time.Time, after string) {
		for _, order := range []string{content.ProductsByCreation, content.ProductsByUpdate} {
			l := content.ProductList{Order: order, Desc: desc, AfterTime: at, AfterID: after, Limit: pageRows}
			c.reads(func(r *store.ReadBatch) { r.ListProducts(l, &rows) })
		}
	})
	for _, desc := range []bool{true, false} {
		_, key, after := page.Cursor{}.Start(desc)
		for _, l := range []content.ProductList{{}, {Prefix: "ab"}, {Status: content.ProductActive}, {Deleted: true}} {
			l.Order, l.Desc, l.AfterKey, l.AfterID, l.Limit = content.ProductsByName, desc, key, after, pageRows
			c.reads(func(r *store.ReadBatch) { r.ListProducts(l, &rows) })
		}
	}
	c.write(func(w *store.Tx) {
		w.InsertProduct(content.Product{
			ID: region.NewID(region.US), Name: name, URL: "https://shop.example", Status: content.ProductActive,
			CreatedAt: worldStart,
		})
		w.UpdateProduct(id, content.ProductChange{Name: &name, Price: &price}, worldStart, &one)
		w.DeleteProduct(id, worldStart)
	})
}
