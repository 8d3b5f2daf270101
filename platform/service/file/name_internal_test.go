package file

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
)

// TestNames covers the names that files get, and the extensions of names.
func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", maxName)
	for given, want := range map[string]string{
		"a.png": "a.png", "\ta\x00\x1f\x7fb\n": "ab", "a\xffb": "ab", "": "file", "\t": "file", long: long, long + "x": long,
	} {
		require.Equal(t, want, clean(given), "%q", given)
	}
	for given, want := range map[string]string{"/a/b": "b", `c:\a\b`: "b", "a/": "a", "/": "", ".": "", "..": "", "a/..": "", "...": "..."} {
		require.Equal(t, want, base(given), "%q", given)
	}
	longest := strings.Repeat("a", maxExtension)
	for given, want := range map[string]string{"a.PNG": "png", "a": "", "a.tar.gz": "gz", "a." + longest: longest, "a." + longest + "a": ""} {
		require.Equal(t, want, extensionOf(given), "%q", given)
	}
}

// TestTypesOfUploads covers which content an upload of each kind takes, and the type of the file.
func TestTypesOfUploads(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]map[Kind]string{
		"image/png":       {Any: "image", "image": "image", "file": "file"},
		"image/svg+xml":   {Any: "file", "file": "file"},
		"video/mp4":       {Any: "video", "video": "video", "clip": "clip", "audio": "audio", "file": "file"},
		"audio/mpeg":      {Any: "audio", "audio": "audio", "file": "file"},
		"application/ogg": {Any: "file", "audio": "audio", "file": "file"},
		"text/plain":      {Any: "file", "file": "file"},
	} {
		for _, kind := range []Kind{Any, "image", "video", "clip", "audio", "file"} {
			got, err := kind.typeOf("x", contentType{mimeType: content})
			require.Equal(t, want[kind], got, "%s as %s", content, kind)
			require.Equal(t, want[kind] == "", err != nil, "%s as %s", content, kind)
		}
	}
}

// TestForms covers the bounds of the fields of an upload.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		form Form
		ok   bool
	}{
		"nothing":        {Form{}, true},
		"longest name":   {Form{PreferredName: strings.Repeat("é", maxName)}, true},
		"too long name":  {Form{PreferredName: strings.Repeat("é", maxName+1)}, false},
		"longest text":   {Form{AltText: strings.Repeat("é", maxAltText)}, true},
		"too long text":  {Form{AltText: strings.Repeat("é", maxAltText+1)}, false},
		"a zero byte":    {Form{AltText: "a\x00"}, false},
		"no text":        {Form{PreferredName: "\xff"}, false},
		"access type":    {Form{AccessType: media.AccessNetwork}, true},
		"no access type": {Form{AccessType: "private"}, false},
		"clip":           {Form{FeedType: "clip"}, true},
		"no feed type":   {Form{FeedType: "feed"}, false},
	} {
		err := test.form.check()
		require.Equal(t, test.ok, err == nil, name)
		if err != nil {
			require.Equal(t, fail.KindValidation, fail.From(err).Kind, name)
		}
	}
}

// TestUsagesOfUploads checks which usages of a day an upload is refused for at its start, and that its bytes are added to those of the day.
func TestUsagesOfUploads(t *testing.T) {
	t.Parallel()
	used := []network.DailyUsage{
		{Kind: network.UsageChannels, Used: 1},
		{Kind: network.UsageUploads, Used: 2},
		{Kind: network.UsageCommunities, Used: 3},
		{Kind: network.UsageUploadBytes, Used: 4},
	}
	uploads := slices.DeleteFunc(used, isNotUpload)
	require.Equal(t, []network.DailyUsage{{Kind: network.UsageUploads, Used: 2}, {Kind: network.UsageUploadBytes, Used: 4}}, uploads)
	require.Equal(t, int64(4), usedBytes(uploads))
	require.Zero(t, usedBytes(uploads[:1]))
}

// TestAddressForAnonymousCallers checks that a caller who is neither a user nor an administrator gets no proof: one without a viewer is
// that of an administrator.
func TestAddressForAnonymousCallers(t *testing.T) {
	t.Parallel()
	l, err := NewLinks("https://plaza.example", "n", []byte("secret"), keyring(t, "k"), time.Hour, time.Now)
	require.NoError(t, err)
	f := media.File{ID: region.NewID(region.EU), Restricted: true, AccessType: media.AccessPublic}
	object := view.FileObject{Kind: core.UsePost, ID: region.NewID(region.EU)}
	plain := "https://plaza.example/api/v3/files/" + f.ID + "/download"
	require.Equal(t, plain, l.URL(f, object, &auth.Caller{Kind: auth.Anonymous}))
	require.Greater(t, len(l.URL(f, object, &auth.Caller{Kind: auth.Admin})), len(plain))
}
