package view

import (
	"encoding/json"

	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Annotations are the links and products in the text of a post or comment, as rows store them.
type Annotations struct {
	Links           []Link       `json:"links,omitempty"`
	ProductTags     []ProductTag `json:"productTags,omitempty"`
	PinnedProductID string       `json:"pinnedProductId,omitempty"`
}

// Link is a link in a text, as rows store it.
type Link struct {
	Index         *int32  `json:"index,omitempty"`
	Length        *int32  `json:"length,omitempty"`
	URL           string  `json:"url"`
	RenderPreview bool    `json:"renderPreview,omitempty"`
	Domain        *string `json:"domain,omitempty"`
	Title         *string `json:"title,omitempty"`
	ImageURL      *string `json:"imageUrl,omitempty"`
}

// ProductTag is a reference to a product, as rows store it.
type ProductTag struct {
	ProductID string  `json:"productId"`
	Text      *string `json:"text,omitempty"`
	Index     *int32  `json:"index,omitempty"`
	Length    *int32  `json:"length,omitempty"`
}

// JSON encodes annotations for a row.
func (a Annotations) JSON() []byte {
	raw, err := json.Marshal(a)
	if err != nil {
		return []byte("{}")
	}
	return raw
}

// AnnotationsOf decodes the annotations of a row.
func AnnotationsOf(raw []byte) Annotations {
	var a Annotations
	_ = json.Unmarshal(raw, &a) // an empty value for rows without annotations
	return a
}

// LinksOf returns the links of a request as rows store them.
func LinksOf(links []*plazav1.Link) []Link {
	return mapList(links, func(l *plazav1.Link) Link {
		return Link{
			Index: l.Index, Length: l.Length, URL: l.GetUrl(), RenderPreview: l.GetRenderPreview(), Domain: l.Domain, Title: l.Title,
			ImageURL: l.ImageUrl,
		}
	})
}

// ProductTagsOf returns the product tags of a request as rows store them.
func ProductTagsOf(tags []*plazav1.ProductTag) []ProductTag {
	return mapList(tags, func(t *plazav1.ProductTag) ProductTag {
		return ProductTag{ProductID: t.GetProductId(), Text: t.Text, Index: t.Index, Length: t.Length}
	})
}

func (a Annotations) links() []*plazav1.Link {
	return mapList(a.Links, func(l Link) *plazav1.Link {
		return &plazav1.Link{
			Index: l.Index, Length: l.Length, Url: l.URL, RenderPreview: l.RenderPreview, Domain: l.Domain, Title: l.Title, ImageUrl: l.ImageURL,
		}
	})
}

func (a Annotations) productTags() []*plazav1.ProductTag {
	return mapList(a.ProductTags, func(t ProductTag) *plazav1.ProductTag {
		return &plazav1.ProductTag{ProductId: t.ProductID, Text: t.Text, Index: t.Index, Length: t.Length}
	})
}

// annotate adds the annotations of a post that is not deleted.
func annotate(m *plazav1.Post, p content.Post) {
	a := AnnotationsOf(p.Annotations)
	m.Links, m.ProductTags, m.PinnedProductId = a.links(), a.productTags(), a.PinnedProductID
}
