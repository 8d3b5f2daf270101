// Package webpage fetches what web pages say about themselves, for previews of links.
//
// Users choose the addresses, and the server is in a network that they must not reach. Connections are only made to public
// addresses, at ports 80 and 443: the address is checked after the name was resolved, for each connection, also of redirects. No
// proxy of the environment is used, because the check would only see the proxy. Callers do not learn why a page has no preview,
// because that would tell them about the network.
package webpage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/plaza-social/plaza/platform/publicnet"
	"github.com/plaza-social/plaza/platform/span"
)

const (
	maxBody      = 512 << 10 // bytes that are read of a page
	maxHeader    = 64 << 10
	maxRedirects = 3
	maxURL       = 2000
	maxFetches   = 32 // at a time
	maxOfUser    = 4  // at a time of a user, so that pages that do not answer do not delay other users

	cacheSize = 2_000
	keepFound = time.Hour
	keepEmpty = time.Minute // of pages without a preview
)

var (
	// ErrURL is the error of addresses that are not those of web pages.
	ErrURL = errors.New("must be an http or https address of at most 2000 characters with a host and without a user name")
	// ErrBusy is the error of requests while too many pages are being fetched.
	ErrBusy = errors.New("too many pages are being fetched")

	errRedirects = fmt.Errorf("more than %d redirects", maxRedirects)
)

// Fetcher fetches previews. It is safe for concurrent use.
type Fetcher struct {
	client  *http.Client
	now     func() time.Time
	cache   *lru.Cache[string, cached]
	flights singleflight.Group
	slots   slots
}

// cached is a preview that is kept.
type cached struct {
	preview Preview
	until   time.Time
}

// New returns a fetcher that also fetches from networks which are not public, such as those of an intranet. resolver may be nil.
// timeout is the time limit of a page, with redirects.
func New(allowed []netip.Prefix, resolver *net.Resolver, now func() time.Time, timeout time.Duration) *Fetcher {
	cache, err := lru.New[string, cached](cacheSize)
	if err != nil {
		panic(err) // the size is a positive constant
	}
	dialer := publicnet.Dialer(allowed, resolver, timeout)
	return &Fetcher{
		client: &http.Client{
			Transport: &http.Transport{
				DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true,
				TLSHandshakeTimeout: timeout, ResponseHeaderTimeout: timeout, MaxResponseHeaderBytes: maxHeader,
			},
			CheckRedirect: checkRedirect,
			Timeout:       timeout,
		},
		now: now, cache: cache,
	}
}

func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errRedirects
	}
	return checkURL(r.URL)
}

// Parse returns the address of a link; without a scheme it is https.
func Parse(link string) (*url.URL, error) {
	if scheme, _, found := strings.Cut(link, "://"); !found || strings.ContainsAny(scheme, "/?#") {
		link = "https://" + link
	}
	u, err := url.Parse(link)
	if err != nil || len(link) > maxURL || checkURL(u) != nil {
		return nil, ErrURL
	}
	u.Fragment = ""
	return u, nil
}

func checkURL(u *url.URL) error {
	if u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		return ErrURL
	}
	return nil
}

// Fetch returns the preview of the page with an address of Parse, for a user. It only contains the domain if the page cannot be had.
func (f *Fetcher) Fetch(ctx context.Context, user string, u *url.URL) (Preview, error) {
	key := u.String()
	if known, ok := f.cache.Get(key); ok && f.now().Before(known.until) {
		return known.preview, nil
	}
	// The fetch continues if the first of several requests for the page ends.
	flight := f.flights.DoChan(key, func() (any, error) { return f.load(context.WithoutCancel(ctx), user, u) })
	select {
	case result := <-flight:
		preview, _ := result.Val.(Preview)
		return preview, result.Err
	case <-ctx.Done():
		return Preview{}, ctx.Err()
	}
}

// load fetches a page and keeps its preview.
func (f *Fetcher) load(ctx context.Context, user string, u *url.URL) (Preview, error) {
	if !f.slots.take(user) {
		return Preview{}, ErrBusy
	}
	defer f.slots.give(user)
	preview, err := f.get(ctx, u)
	keep := keepFound
	if err != nil {
		preview, keep = Preview{Domain: domainOf(u)}, keepEmpty
	}
	f.cache.Add(u.String(), cached{preview, f.now().Add(keep)})
	return preview, nil
}

// get fetches a page.
func (f *Fetcher) get(ctx context.Context, u *url.URL) (Preview, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Preview{}, err
	}
	request.Header.Set("User-Agent", "Mozilla/5.0 (compatible; Plaza; link preview)")
	request.Header.Set("Accept", "text/html, application/xhtml+xml, image/*;q=0.5")
	span.Propagate(ctx, request.Header)
	response, err := f.client.Do(request)
	if err != nil {
		return Preview{}, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return Preview{}, fmt.Errorf("status %d", response.StatusCode)
	}
	contentType := response.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return Preview{}, err
	case strings.HasPrefix(media, "image/"):
		return Preview{Domain: domainOf(response.Request.URL), ImageURL: imageOf(response.Request.URL.String(), u)}, nil
	case media != "text/html" && media != "application/xhtml+xml":
		return Preview{}, fmt.Errorf("content type %s", media)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil && len(body) == 0 {
		return Preview{}, err
	}
	return parse(body, contentType, response.Request.URL), nil
}
