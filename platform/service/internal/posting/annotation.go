package posting

import (
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// LinkTexts returns the texts and addresses of links.
func LinkTexts(links []*plazav1.Link) []string {
	var texts []string
	for _, l := range links {
		texts = append(texts, l.GetUrl(), l.GetTitle(), l.GetDomain(), l.GetImageUrl())
	}
	return texts
}

// annotationTexts returns the texts of links and product tags.
func annotationTexts(links []*plazav1.Link, tags []*plazav1.ProductTag) []string {
	return append(LinkTexts(links), service.Map(tags, (*plazav1.ProductTag).GetText)...)
}

// annotations returns the links and products of the draft.
func (d *Draft) annotations() []byte {
	return view.Annotations{Links: view.LinksOf(d.GetLinks()), ProductTags: view.ProductTagsOf(d.GetProductTags())}.JSON()
}

// editedAnnotations returns the links and products of a post after an edit.
func editedAnnotations(held []byte, m *plazav1.UpdatePostRequest) []byte {
	a := view.AnnotationsOf(held)
	a.Links = service.ReplaceList(view.LinksOf(m.GetLinks()), a.Links, m.GetClear(), "links")
	a.ProductTags = service.ReplaceList(view.ProductTagsOf(m.GetProductTags()), a.ProductTags, m.GetClear(), "productTags")
	if m.PinnedProductId != nil {
		a.PinnedProductID = m.GetPinnedProductId()
	}
	return a.JSON()
}

// EditedLinks returns the annotations of a comment after an edit of its links.
func EditedLinks(held []byte, links []*plazav1.Link, cleared []string) []byte {
	a := view.AnnotationsOf(held)
	a.Links = service.ReplaceList(view.LinksOf(links), a.Links, cleared, "links")
	return a.JSON()
}
