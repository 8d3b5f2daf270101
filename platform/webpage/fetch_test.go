package webpage_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/propagation"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/plaza-social/plaza/platform/webpage"
)

var (
	noon     = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
)

// site is a web server that counts its requests.
type site struct {
	*httptest.Server
	requests atomic.Int64
}

func newSite(t *testing.T, handler http.HandlerFunc) *site {
	t.Helper()
	return newSiteAt(t, "127.0.0.1:0", handler)
}

func newSiteAt(t *testing.T, address string, handler http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(w, r)
	}))
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	_ = s.Listener.Close()
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *site) port() string { return s.URL[strings.LastIndex(s.URL, ":")+1:] }

func page(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(text))
	}
}

func fetch(t *testing.T, f *webpage.Fetcher, address string) webpage.Preview {
	t.Helper()
	u, err := webpage.Parse(address)
	require.NoError(t, err)
	p, err := f.Fetch(t.Context(), "user", u)
	require.NoError(t, err)
	return p
}

func fixed() time.Time { return noon }

func TestPreview(t *testing.T) {
	t.Parallel()
	latin := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
		_, _ = w.Write([]byte("<title>Caf\xe9</title>"))
	})
	image := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "image/png") })
	text := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("<title>no page</title>"))
	})
	xhtml := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xhtml+xml")
		_, _ = w.Write([]byte("<html><head><title>strict</title></head></html>"))
	})
	cutOff := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("<title>begun</title>"))
	})
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    webpage.Preview
	}{
		"open graph": {
			page(`<html><head><title>Plain</title><meta property="og:title" content="Rock &amp; ice"><meta property="og:description" content=" All
				about it "><meta property="og:image" content="/a.png"></head>`),
			webpage.Preview{Title: "Rock & ice", Description: "All about it", ImageURL: "SITE/a.png"},
		},
		"image of https": {
			page(`<meta property="og:image" content="/a.png"><meta property="og:image:secure_url" content="https://i.example/s"><meta property="og:image:url" content="/b.png">`),
			webpage.Preview{ImageURL: "https://i.example/s"},
		},
		"address of an image": {
			page(`<meta property="og:image:url" content="/b.png"><meta name="twitter:image" content="/c.png">`),
			webpage.Preview{ImageURL: "SITE/b.png"},
		},
		"the first of a name": {page(`<title>a</title><title>b</title><meta property="og:description" content="c"><meta property="og:description" content="d">`), webpage.Preview{Title: "a", Description: "c"}},
		"names in capitals": {
			page(`<meta name=" Twitter:Description " content="T"><meta name="description" content="D">`),
			webpage.Preview{Description: "T"},
		},
		"after the head": {page(`<head><title>x</title></head><meta name="description" content="D">`), webpage.Preview{Title: "x"}},
		"user of an image": {
			page(`<title>x</title><meta property="og:image" content="https://user@i.example/x">`),
			webpage.Preview{Title: "x"},
		},
		"longest image": {
			page(`<meta property="og:image" content="https://i.example/` + strings.Repeat("a", 1982) + `">`),
			webpage.Preview{ImageURL: "https://i.example/" + strings.Repeat("a", 1982)},
		},
		"too long image": {page(`<title>x</title><meta property="og:image" content="https://i.example/` + strings.Repeat("a", 1983) +
			`">`), webpage.Preview{Title: "x"}},
		"spaces":        {page("<title>\u00a0a\u00a0\u007fb\tc\n</title>"), webpage.Preview{Title: "a b c"}},
		"longest title": {page("<title>" + strings.Repeat("é", 300)), webpage.Preview{Title: strings.Repeat("é", 300)}},
		"XHTML":         {xhtml, webpage.Preview{Title: "strict"}},
		"cut off":       {cutOff, webpage.Preview{Title: "begun"}},
		"plain": {
			page(`<title> Rock <b> </title><meta name=description content=Ice>`),
			webpage.Preview{Title: "Rock <b>", Description: "Ice"},
		},
		"twitter": {
			page(`<meta name="twitter:title" content="T"><meta name="twitter:image" content="https://i.example/x">`),
			webpage.Preview{Title: "T", ImageURL: "https://i.example/x"},
		},
		"only the head": {page(`<head></head><body><title>no</title>`), webpage.Preview{}},
		"script as image": {
			page(`<title>x</title><meta property="og:image" content="javascript:alert(1)">`),
			webpage.Preview{Title: "x"},
		},
		"other characters":    {latin, webpage.Preview{Title: "Café"}},
		"long title":          {page("<title>" + strings.Repeat("é", 400)), webpage.Preview{Title: strings.Repeat("é", 299) + "…"}},
		"image":               {image, webpage.Preview{ImageURL: "SITE/"}},
		"text":                {text, webpage.Preview{}},
		"missing":             {http.NotFound, webpage.Preview{}},
		"title after 512 KiB": {page("<head><!--" + strings.Repeat("x", 512<<10) + "--><title>late</title>"), webpage.Preview{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, tc.handler)
			want := tc.want
			want.Domain, want.ImageURL = "127.0.0.1", strings.Replace(want.ImageURL, "SITE", s.URL, 1)
			require.Equal(t, want, fetch(t, webpage.New(loopback, nil, fixed, time.Minute), s.URL+"/"))
		})
	}
}

// TestRefusedAddresses checks that a server in the network is not asked, by whatever name its address has, and that the preview is
// that of a page which cannot be had.
func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	s := newSite(t, page("<title>secret</title>"))
	names := &nameServer{answer: func(int) string { return "127.0.0.1" }}
	f := webpage.New(nil, names.resolver(), fixed, time.Minute)
	for _, host := range []string{
		"127.0.0.1", "127.1", "2130706433", "0x7f000001", "localhost", "name.example", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[::127.0.0.1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]",
	} {
		u, err := webpage.Parse("http://" + host + ":" + s.port() + "/")
		require.NoError(t, err, host)
		p, err := f.Fetch(t.Context(), "user", u)
		require.NoError(t, err, host)
		require.Empty(t, p.Title, host)
	}
	require.Zero(t, s.requests.Load())
}

// TestRedirects follows redirects, but not to addresses that are not allowed, and not for ever.
func TestRedirects(t *testing.T) {
	t.Parallel()
	secret := newSiteAt(t, "127.0.0.2:0", page("<title>secret</title>"))
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		n := 0
		switch _, _ = fmt.Sscanf(r.URL.Path, "/hops/%d", &n); {
		case r.URL.Path == "/inside":
			http.Redirect(w, r, "http://127.0.0.2:"+secret.port()+"/", http.StatusFound)
		case r.URL.Path == "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case r.URL.Path == "/user":
			http.Redirect(w, r, "http://user:password@127.0.0.1/", http.StatusFound)
		case n > 0:
			http.Redirect(w, r, fmt.Sprint("/hops/", n-1), http.StatusFound)
		default:
			page("<title>found</title>")(w, r)
		}
	})
	f := webpage.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, nil, fixed, time.Minute)
	for path, want := range map[string]string{"/hops/0": "found", "/hops/3": "found", "/hops/4": "", "/inside": "", "/file": "", "/user": ""} {
		require.Equal(t, want, fetch(t, f, s.URL+path).Title, path)
	}
	require.Zero(t, secret.requests.Load())
	require.Equal(t, "found", fetch(t, f, s.URL+"/hops/1").Title)
}

// TestCompressedPage checks that the limit of bytes is that of the page and not of the transfer.
func TestCompressedPage(t *testing.T) {
	t.Parallel()
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	_, _ = z.Write([]byte("<title>small</title>" + strings.Repeat(" ", 8<<20)))
	require.NoError(t, z.Close())
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body.Bytes())
	})
	require.Equal(t, "small", fetch(t, webpage.New(loopback, nil, fixed, time.Minute), s.URL).Title)
}

// TestRebinding resolves a name to an allowed address at first and to another one later, as an attacker's name server can.
func TestRebinding(t *testing.T) {
	t.Parallel()
	s := newSite(t, page("<title>found</title>"))
	inside := newSiteAt(t, "127.0.0.2:"+s.port(), page("<title>inside</title>"))
	answers := []string{"127.0.0.1", "127.0.0.2"}
	names := &nameServer{answer: func(n int) string { return answers[min(n, 1)] }}
	f := webpage.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, names.resolver(), fixed, time.Minute)
	require.Equal(t, "found", fetch(t, f, "http://rebind.example:"+s.port()+"/1").Title)
	require.Empty(t, fetch(t, f, "http://rebind.example:"+s.port()+"/2").Title)
	require.Zero(t, inside.requests.Load())
}

// nameServer answers requests for IPv4 addresses.
type nameServer struct {
	asked  atomic.Int64
	answer func(n int) string
}

// resolver returns a resolver that asks the name server.
func (n *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go n.serve(server)
		return client, nil
	}}
}

// serve answers one request, in the form of a stream.
func (n *nameServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	buffer := make([]byte, 1500)
	size, err := conn.Read(buffer)
	if err != nil {
		return
	}
	request := buffer[2:size]
	if len(request) == 0 { // the length came alone
		if size, err = conn.Read(buffer); err != nil {
			return
		}
		request = buffer[:size]
	}
	var m dnsmessage.Message
	if m.Unpack(request) != nil || len(m.Questions) == 0 {
		return
	}
	m.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		ip := netip.MustParseAddr(n.answer(int(n.asked.Add(1)) - 1)).As4()
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: ip},
		}}
	}
	packed, err := m.Pack()
	if err != nil {
		return
	}
	_, _ = conn.Write(append([]byte{byte(len(packed) >> 8), byte(len(packed))}, packed...))
}

// TestCache keeps previews for an hour, and failures for a minute.
func TestCache(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if fails.Load() {
			http.NotFound(w, r)
			return
		}
		page("<title>found</title>")(w, r)
	})
	now := noon
	f := webpage.New(loopback, nil, func() time.Time { return now }, time.Minute)
	fails.Store(true)
	require.Empty(t, fetch(t, f, s.URL).Title)
	fails.Store(false)
	require.Empty(t, fetch(t, f, s.URL+"#fragment").Title)
	require.EqualValues(t, 1, s.requests.Load())
	now = now.Add(time.Minute)
	require.Equal(t, "found", fetch(t, f, s.URL).Title)
	now = now.Add(59 * time.Minute)
	require.Equal(t, "found", fetch(t, f, s.URL).Title)
	require.EqualValues(t, 2, s.requests.Load())
	now = now.Add(time.Minute)
	require.Equal(t, "found", fetch(t, f, s.URL).Title)
	require.EqualValues(t, 3, s.requests.Load())
}

// TestManyFetches checks that a server fetches a limited number of pages at a time, few of them for the same user, and the same page
// once.
func TestManyFetches(t *testing.T) {
	t.Parallel()
	release, arrived := make(chan struct{}), make(chan struct{}, 100)
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-release
		page("<title>found</title>")(w, r)
	})
	f := webpage.New(loopback, nil, fixed, time.Minute)
	done := make(chan error, 64)
	start := func(user int, path string) {
		u, err := url.Parse(s.URL + path)
		require.NoError(t, err)
		go func() {
			_, err := f.Fetch(context.WithoutCancel(t.Context()), fmt.Sprint("user", user), u)
			done <- err
		}()
	}
	for i := range 4 {
		start(0, fmt.Sprint("/", i))
		<-arrived
	}
	start(0, "/one-too-many-of-a-user")
	require.ErrorIs(t, <-done, webpage.ErrBusy)
	for i := 4; i < 32; i++ {
		start(i/4, fmt.Sprint("/", i))
		<-arrived
	}
	start(8, "/one-too-many")
	require.ErrorIs(t, <-done, webpage.ErrBusy)
	for i := range 32 {
		start(8, fmt.Sprint("/", i))
	}
	close(release)
	for range 64 {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, 32, s.requests.Load())
	for i := range 4 {
		start(0, fmt.Sprint("/again/", i))
	}
	for range 4 {
		require.NoError(t, <-done)
	}
}

// TestHeaders checks by which headers a site can tell what the request is for, and what it should answer.
func TestHeaders(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		got.Store([]string{r.Method, r.Header.Get("User-Agent"), r.Header.Get("Accept")})
		page("<title>x</title>")(w, r)
	})
	fetch(t, webpage.New(loopback, nil, fixed, time.Minute), s.URL+"/")
	require.Equal(t, []string{
		http.MethodGet, "Mozilla/5.0 (compatible; Plaza; link preview)", "text/html, application/xhtml+xml, image/*;q=0.5",
	}, got.Load())
}

// TestTraceContext tells the site to which trace the request belongs.
func TestTraceContext(t *testing.T) {
	t.Parallel()
	const traced = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	var got atomic.Value
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Traceparent"))
		page("<title>x</title>")(w, r)
	})
	f := webpage.New(loopback, nil, time.Now, time.Minute)
	for path, want := range map[string]string{"/with": traced, "/without": ""} {
		u, err := webpage.Parse(s.URL + path)
		require.NoError(t, err)
		ctx := propagation.TraceContext{}.Extract(t.Context(), propagation.MapCarrier{"traceparent": want})
		_, err = f.Fetch(ctx, "user", u)
		require.NoError(t, err)
		require.Equal(t, want, got.Load())
	}
}
