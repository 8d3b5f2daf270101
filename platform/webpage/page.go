package webpage

import (
	"bytes"
	"cmp"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// The maximum lengths of what a preview contains, in characters.
const (
	maxTitle       = 300
	maxDescription = 1000
	maxImageURL    = 2000
)

// Preview contains the title, description and image of a web page. What the page lacks is empty.
type Preview struct {
	Title       string
	Description string
	Domain      string
	ImageURL    string
}

// parse returns the preview of a page that was fetched from an address.
func parse(body []byte, contentType string, from *url.URL) Preview {
	head := readHead(body, contentType)
	return Preview{
		Title:       shorten(cmp.Or(head["og:title"], head["twitter:title"], head["title"]), maxTitle),
		Description: shorten(cmp.Or(head["og:description"], head["twitter:description"], head["description"]), maxDescription),
		Domain:      domainOf(from),
		ImageURL:    imageOf(cmp.Or(head["og:image:secure_url"], head["og:image"], head["og:image:url"], head["twitter:image"]), from),
	}
}

// readHead returns the properties in the head of a page, the first of each name.
func readHead(body []byte, contentType string) map[string]string {
	found := map[string]string{}
	reader, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return found
	}
	inTitle := false
	for tokens := html.NewTokenizer(reader); ; {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return found
		}
		token := tokens.Token()
		switch {
		case token.DataAtom == atom.Body && kind == html.StartTagToken, token.DataAtom == atom.Head && kind == html.EndTagToken:
			return found
		case token.DataAtom == atom.Title:
			inTitle = kind == html.StartTagToken
		case inTitle && kind == html.TextToken:
			found["title"] = cmp.Or(found["title"], clean(token.Data))
		case token.DataAtom == atom.Meta:
			name, content := metaOf(token)
			found[name] = cmp.Or(found[name], content)
		}
	}
}

// metaOf returns the name and the content of a meta element.
func metaOf(token html.Token) (name, content string) {
	for _, a := range token.Attr {
		switch a.Key {
		case "property", "name":
			name = cmp.Or(name, strings.ToLower(strings.TrimSpace(a.Val)))
		case "content":
			content = clean(a.Val)
		}
	}
	return name, content
}

// clean returns a text with single spaces, without invalid characters.
func clean(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xa0 }),
		" ")
}

func shorten(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}

// imageOf returns the absolute address of an image; empty if browsers cannot show it.
func imageOf(address string, from *url.URL) string {
	image, err := from.Parse(address)
	if err != nil || address == "" || image.Scheme != "https" && image.Scheme != "http" || image.User != nil ||
		len(image.String()) > maxImageURL {
		return ""
	}
	return image.String()
}

func domainOf(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") }
