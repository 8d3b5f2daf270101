// Package product implements ProductService: the catalogue of products that posts can tag.
package product

import (
	"cmp"
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements ProductService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

var (
	errNoCurrency = fail.Validation("currency: is required with a price")
	errNoPrice    = fail.Validation("price: is required with a currency")
)

// CreateProduct adds a product to the catalogue at the home of this region.
func (s *Service) CreateProduct(ctx context.Context, req *plazav1.CreateProductRequest) (*plazav1.ProductResponse, error) {
	r := s.NewPrivilegedRequest(ctx, auth.ManageSetting)
	textrules.Require(r, s.Region, textrules.TextOfList(req.GetProductName()))
	r.Check(func() error { return checkPrice(req.Price != nil, req.GetCurrency() != "") })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	now := s.Now()
	p := content.Product{
		ID: s.NewID(s.Region), Name: req.GetProductName(), URL: req.GetProductUrl(), Status: cmp.Or(req.GetStatus(), content.ProductActive),
		Price: req.Price, Currency: req.GetCurrency(), ThumbnailURL: req.GetThumbnailUrl(), ThumbnailMode: cmp.Or(req.GetThumbnailMode(), "fit"),
		CreatedAt: now, UpdatedAt: now,
	}
	auth.Created(ctx, "product", p.ID)
	tx := s.Store.NewTx(s.Region)
	tx.InsertProduct(p)
	return s.respond(p), tx.Commit(ctx)
}

// checkPrice returns an error unless there are both a price and a currency or neither.
func checkPrice(hasPrice, hasCurrency bool) error {
	switch {
	case hasPrice && !hasCurrency:
		return errNoCurrency
	case hasCurrency && !hasPrice:
		return errNoPrice
	}
	return nil
}

// GetProduct gets one product.
func (s *Service) GetProduct(ctx context.Context, req *plazav1.GetProductRequest) (*plazav1.ProductResponse, error) {
	var rows []content.Product
	r := s.NewRequest(ctx)
	r.Products([]string{req.GetProductId()}, &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fail.NotFound()
	}
	return s.respond(rows...), nil
}

// UpdateProduct changes the fields of a product that the request sets.
func (s *Service) UpdateProduct(ctx context.Context, req *plazav1.UpdateProductRequest) (*plazav1.ProductResponse, error) {
	id := req.GetProductId()
	var rows []content.Product
	r := s.NewPrivilegedRequest(ctx, auth.ManageSetting)
	r.CheckID(id)
	r.Products([]string{id}, &rows)
	r.CheckFound(func() bool { return len(rows) > 0 && rows[0].DeletedAt == nil })
	textrules.Require(r, s.HomeOf(id), textrules.TextOfFields(req.ProductName))
	r.Check(func() error {
		return checkPrice(req.Price != nil || rows[0].Price != nil, cmp.Or(req.GetCurrency(), rows[0].Currency) != "")
	})
	var updated *content.Product
	if err := r.Write(ctx, id, func(tx *store.Tx) { tx.UpdateProduct(id, changeOf(req), s.Now(), &updated) }); err != nil {
		return nil, err
	}
	return s.respond(*updated), nil
}

func changeOf(req *plazav1.UpdateProductRequest) content.ProductChange {
	return content.ProductChange{
		Name: req.ProductName, URL: req.ProductUrl, Status: req.Status, Price: req.Price, Currency: req.Currency,
		ThumbnailURL: req.ThumbnailUrl, ThumbnailMode: req.ThumbnailMode,
	}
}

// DeleteProduct deletes a product. Posts keep its id.
func (s *Service) DeleteProduct(ctx context.Context, req *plazav1.DeleteProductRequest) (*plazav1.SuccessResponse, error) {
	id := req.GetProductId()
	r := s.NewPrivilegedRequest(ctx, auth.ManageSetting)
	r.CheckID(id)
	return service.Success(), r.Write(ctx, id, func(tx *store.Tx) { tx.DeleteProduct(id, s.Now()) })
}

func (s *Service) respond(rows ...content.Product) *plazav1.ProductResponse {
	return &plazav1.ProductResponse{Products: s.View.Products(rows)}
}
