package view

import (
	"slices"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Product converts a product.
func (b *Builder) Product(p content.Product) *plazav1.Product {
	return &plazav1.Product{
		PrivateId: p.ID, ProductId: p.ID, ProductName: p.Name, ProductUrl: p.URL, Status: p.Status, Price: p.Price, Currency: p.Currency,
		ThumbnailUrl: p.ThumbnailURL, ThumbnailMode: p.ThumbnailMode, ImportSource: "manual", IsDeleted: p.DeletedAt != nil,
		CreatedAt: ts(p.CreatedAt), UpdatedAt: ts(p.UpdatedAt),
	}
}

// Products converts products.
func (b *Builder) Products(rows []content.Product) []*plazav1.Product {
	return mapList(rows, b.Product)
}

// readProducts reads the products that the posts tag or show first.
func (l *loader) readProducts(batch *store.ReadBatch) {
	wanted := newIDSet()
	for _, p := range l.Posts {
		a := AnnotationsOf(p.Annotations)
		for _, tag := range a.ProductTags {
			wanted.add(tag.ProductID)
		}
		wanted.add(a.PinnedProductID)
	}
	l.productIDs = slices.DeleteFunc(wanted.order, func(id string) bool { return !region.ValidID(id) })
	batch.Products(l.productIDs, &l.products)
}

// buildProducts adds the products in the order of their posts, without deleted ones.
func (l *loader) buildProducts(a *Aggregate) {
	of := func(p content.Product) embed { return embed{id: p.ID, deleted: p.DeletedAt != nil} }
	products, _ := shownEmbeds(l.productIDs, l.products, nil, of)
	a.Products = l.builder.Products(products)
}
