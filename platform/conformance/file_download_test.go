package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/file"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
)

func TestDownload(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	uploader, anonymous := newUser(t, region.EU, "uploader"), n.Anonymous(region.US)
	page := upload(t, uploader, "file", `Ein "Blatt".html`, []byte("<html><script>alert(1)</script></html>"))
	path := pathOf(t, page)
	r := anonymous.Do(t, http.MethodGet, path, nil).OK(t)
	require.Contains(t, r.Header.Get("Content-Type"), "text/html")
	require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
	require.Contains(t, r.Header.Get("Content-Security-Policy"), "sandbox")
	require.Contains(t, r.Header.Get("Content-Disposition"), "attachment", "a browser saves it, and runs nothing")
	require.Contains(t, r.Header.Get("Cache-Control"), "public")
	require.Equal(t, "*", anonymous.With("Origin", "https://app.example.com").Do(t, http.MethodGet, path,
		nil).OK(t).Header.Get("Access-Control-Allow-Origin"))

	film := upload(t, uploader, "video", "film.mp4", []byte(tinyVideo))
	path = pathOf(t, film)
	r = anonymous.Do(t, http.MethodGet, path, nil).OK(t)
	require.Equal(t, "inline; filename=film.mp4", r.Header.Get("Content-Disposition"))
	part := anonymous.With("Range", "bytes=4-7").Do(t, http.MethodGet, path, nil)
	require.Equal(t, http.StatusPartialContent, part.Status)
	require.Equal(t, "ftyp", string(part.Body))
	outside := anonymous.With("Range", "bytes=9000-").Do(t, http.MethodGet, path, nil)
	requireRefused(t, outside, http.StatusRequestedRangeNotSatisfiable, 400000)
	require.Equal(t, "application/json", outside.Header.Get("Content-Type"))
	require.Regexp(t, `^bytes \*/\d+$`, outside.Header.Get("Content-Range"))
	require.Equal(t, http.StatusNotModified, anonymous.With("If-None-Match", r.Header.Get("Etag")).Do(t, http.MethodGet, path, nil).Status)
	head := anonymous.Do(t, http.MethodHead, path, nil).OK(t)
	require.Equal(t, r.Header.Get("Content-Length"), head.Header.Get("Content-Length"))
	require.Empty(t, head.Body)
	for _, size := range []string{"full", "large", "medium", "small"} {
		require.Equal(t, tinyVideo, string(anonymous.Do(t, http.MethodGet, path+"?size="+size, nil).OK(t).Body), "what is no image has one size")
	}
	requireAttempts(t, []attempt{
		{"another size", anonymous, http.MethodGet, path + "?size=tiny", nil, invalid("size")},
		{"unknown", anonymous, http.MethodGet, filesPath + "/" + unknownID + "/download", nil, notFound},
		{"no id", anonymous, http.MethodGet, filesPath + "/x/download", nil, notFound},
		{"posted", anonymous, http.MethodPost, path, nil, failure{status: 405, code: 400000}},
	})
}

// TestNetworkFile checks that only users of the network can open the unsigned address of a network file.
func TestNetworkFile(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	uploader, reader, exiled := newUser(t, region.EU, "uploader"), newUser(t, region.SG, "reader"), newUser(t, region.US, "exiled")
	admin(t).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": exiled.UserID}).OK(t)
	anonymous := n.Anonymous(region.US)
	f := upload(t, uploader, "image", "a.png", pngOf(t, 700, 700), "accessType", "network")
	other := upload(t, uploader, "file", "b", []byte("x"), "accessType", "network")
	signed := pathOf(t, f)
	bare, token, found := strings.Cut(signed, "?t=")
	require.True(t, found, signed)
	r := anonymous.Do(t, http.MethodGet, signed, nil).OK(t)
	require.Contains(t, r.Header.Get("Cache-Control"), "private")
	small := anonymous.Do(t, http.MethodGet, signed+"?size=small", nil).OK(t)
	require.Less(t, len(small.Body), len(r.Body), "public clients append the size to the address, whatever that is")
	anonymous.Do(t, http.MethodGet, signed+"&size=small", nil).OK(t)
	reader.Do(t, http.MethodGet, bare, nil).OK(t)
	admin(t).Do(t, http.MethodGet, bare, nil).OK(t)
	refused := failure{status: 403, code: 400300}
	_, signature, _ := strings.Cut(token, ".")
	_, foreign, _ := strings.Cut(pathOf(t, other), "?t=")
	requireAttempts(t, []attempt{
		{"banned from the network", exiled, http.MethodGet, bare, nil, globalBan},
		{"no signature", anonymous, http.MethodGet, bare, nil, unauthorized},
		{"an empty one", anonymous, http.MethodGet, bare + "?t=", nil, unauthorized},
		{"another file's", anonymous, http.MethodGet, bare + "?t=" + foreign, nil, refused},
		{"a later end", anonymous, http.MethodGet, bare + "?t=99999999999." + signature, nil, refused},
		{"no end", anonymous, http.MethodGet, bare + "?t=." + signature, nil, refused},
		{"cut off", anonymous, http.MethodGet, bare + "?t=" + token[:len(token)-2], nil, refused},
		{"nonsense", anonymous, http.MethodGet, bare + "?t=!", nil, refused},
		{"nonsense for a token", anonymous.With("Authorization", "Bearer x"), http.MethodGet, bare, nil, unauthorized},
	})
}

// TestSignedAddressExpires has the network's key sign addresses of a file as of now and as of a time ago.
func TestSignedAddressExpires(t *testing.T) {
	t.Parallel()
	uploader := newUser(t, region.EU, "uploader")
	n := uploader.Network
	f := upload(t, uploader, "file", "a", []byte("x"), "accessType", "network")
	ttl := config.Default().FileURLTTL.Std()
	signed := func(at time.Time) string {
		links, err := file.NewLinks("", n.NetworkID, []byte(apptest.DirectoryKey), nil, ttl, func() time.Time { return at })
		require.NoError(t, err)
		return links.URL(media.File{ID: text(f, "fileId"), AccessType: "network"}, view.FileObject{}, &auth.Caller{})
	}
	for _, valid := range []string{pathOf(t, f), signed(time.Now())} {
		n.Anonymous(region.SG).Do(t, http.MethodGet, valid, nil).OK(t)
	}
	expired := signed(time.Now().Add(-ttl * 9 / 8)) // after an eighth more
	requireFailure(t, forbidden, n.Anonymous(region.SG).Do(t, http.MethodGet, expired, nil))
	uploader.Do(t, http.MethodGet, expired, nil).OK(t)
}

// TestFileAddresses checks that addresses begin with the configured URL.
func TestFileAddresses(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) {
		cfg.PublicURL = config.BaseURL("https://" + cfg.Region.String() + ".example.com/plaza")
	}))
	uploader := n.NewUser(t, region.EU, "uploader")
	f := upload(t, uploader, "file", "a", []byte("x"))
	require.Equal(t, "https://eu.example.com/plaza/api/v3/files/"+text(f, "fileId")+"/download", f["fileUrl"])
	got := uploader.At(region.SG).Do(t, http.MethodGet, filesPath+"/"+text(f, "fileId"), nil).OK(t)
	require.Equal(t, "https://sg.example.com/plaza/api/v3/files/"+text(f, "fileId")+"/download", got.String(t, "fileUrl"))
}

// TestWithoutStorage checks that a network without storage refuses files and does everything else.
func TestWithoutStorage(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) { cfg.StorageURL = "" }))
	alice := n.NewUser(t, region.EU, "alice")
	requireFailure(t, failure{status: 503, code: 500000}, alice.Upload(t, "file", "a", []byte("x")))
	newWallPost(t, alice)
}
