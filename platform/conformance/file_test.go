package conformance

import (
	"bytes"
	"image"
	"image/png"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const filesPath = "/api/v3/files"

var (
	fileFields = resource{
		"fileId": "id", "fileUrl": "s", "type": "s", "accessType": "s", "altText": "s", "createdAt": "ts", "updatedAt": "ts",
		"attributes": "o", "status": "s",
	}
	fileAttributes = resource{"name": "s", "extension": "s", "size": "i", "mimeType": "s", "metadata": "o"}
	fileMetadata   = resource{"exif": "o", "gps": "o", "height": "i", "width": "i", "isFull": "b"}
)

// requireFile checks the shape of a file.
func requireFile(t *testing.T, value any) object {
	t.Helper()
	requireResource(t, "file", fileFields, value)
	f := value.(object)
	requireResource(t, "attributes", fileAttributes, f["attributes"])
	requireResource(t, "metadata", fileMetadata, f["attributes"].(object)["metadata"])
	return f
}

// upload uploads one file and checks the answer, which is a bare array.
func upload(t *testing.T, c *apptest.Client, kind, name string, content []byte, fields ...string) object {
	t.Helper()
	list, ok := c.Upload(t, kind, name, content, fields...).OK(t).JSON(t).([]any)
	require.True(t, ok)
	require.Len(t, list, 1)
	return requireFile(t, list[0])
}

func attributesOf(f object) object { return f["attributes"].(object) }

// pathOf returns the address of a file without the host.
func pathOf(t *testing.T, f object) string {
	t.Helper()
	_, path, found := strings.Cut(text(f, "fileUrl"), "/api/")
	require.True(t, found, f["fileUrl"])
	return "/api/" + path
}

// stored returns the objects of a file in the storage folder of a network.
func stored(t *testing.T, n *apptest.Network, fileID string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(n.Files, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), fileID) {
			names = append(names, filepath.Base(path))
		}
		return err
	}))
	return names
}

func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var buffer bytes.Buffer
	require.NoError(t, png.Encode(&buffer, image.NewGray(image.Rect(0, 0, width, height))))
	return buffer.Bytes()
}

const (
	tinyVideo = "\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2 and so on"
	tinySound = "ID3\x04\x00\x00\x00\x00\x00\x00 and so on"
)

// TestUpload uploads each type of file through a region that is not the uploader's home, and downloads it
// everywhere.
func TestUpload(t *testing.T) {
	t.Parallel()
	reader := newUser(t, region.SG, "reader")
	for i, home := range region.All() {
		uploader := newUser(t, home, "uploader")
		for _, c := range []struct {
			kind, name, mimeType, extension string
			content                         []byte
		}{
			{"image", "Übersicht.dat", "image/png", "png", pngOf(t, 20, 10)},
			{"video", "film.mov", "video/mp4", "mp4", []byte(tinyVideo)},
			{"clip", "film", "video/mp4", "mp4", []byte(tinyVideo)},
			{"audio", "song.mp3", "audio/mpeg", "mp3", []byte(tinySound)},
			{"file", "notes.MD", "text/plain", "md", []byte("# notes")},
			{"file", "looks.png", "application/pdf", "pdf", []byte("%PDF-1.7 and so on")},
			{"file", "empty", "text/plain", "", nil},
		} {
			t.Run(home.String()+" "+c.name, func(t *testing.T) {
				f := upload(t, uploader.At(region.All()[(i+1)%3]), c.kind, c.name, c.content)
				at, err := region.HomeOf(text(f, "fileId"))
				require.NoError(t, err)
				require.Equal(t, home, at, "a file lives where its uploader does")
				require.Equal(t, c.kind, f["type"])
				require.Equal(t, "public", f["accessType"])
				require.Equal(t, "uploaded", f["status"])
				require.Equal(t, f["createdAt"], f["updatedAt"])
				a := attributesOf(f)
				require.Equal(t, []any{c.name, c.extension, c.mimeType}, []any{a["name"], a["extension"], a["mimeType"]})
				require.InDelta(t, len(c.content), a["size"], 0)
				require.Equal(t, c.kind == "video" || c.kind == "clip", f["videoUrl"] != nil)
				for _, code := range region.All() {
					got := requireFile(t, reader.At(code).Do(t, http.MethodGet, filesPath+"/"+text(f, "fileId"), nil).OK(t).JSON(t))
					require.Contains(t, got["fileUrl"], uploader.Network.BaseURL(code), "the address of the region that answers")
					delete(got, "videoUrl")
					require.Equal(t, with(got, object{"fileUrl": f["fileUrl"]}), without(f, "videoUrl"))
					bytes := apptest.Shared(t).Anonymous(code).Do(t, http.MethodGet, pathOf(t, f), nil).OK(t)
					require.Equal(t, string(c.content), string(bytes.Body))
					require.Contains(t, bytes.Header.Get("Content-Type"), c.mimeType)
				}
			})
		}
	}
}

func without(o object, field string) object {
	o = with(o)
	delete(o, field)
	return o
}

// TestUploadAny uses the older operation: the content determines the type, and the answer is wrapped.
func TestUploadAny(t *testing.T) {
	t.Parallel()
	uploader := newUser(t, region.EU, "uploader")
	for kind, content := range map[string][]byte{
		"image": pngOf(t, 3, 3), "video": []byte(tinyVideo), "audio": []byte(tinySound), "file": []byte("words"),
	} {
		r := uploader.UploadTo(t, filesPath, "a", content, "fullImage", "true").OK(t)
		require.Equal(t, "success", r.String(t, "status"))
		require.Equal(t, kind, requireFile(t, r.Get(t, "data.0"))["type"])
	}
}

// TestUploadByAdministrator checks that a file without an owner is stored in the region of the upload.
func TestUploadByAdministrator(t *testing.T) {
	t.Parallel()
	for _, code := range region.All() {
		f := upload(t, admin(t).At(code), "file", "a", []byte("x"))
		home, err := region.HomeOf(text(f, "fileId"))
		require.NoError(t, err)
		require.Equal(t, code, home)
	}
}

func TestUploadFields(t *testing.T) {
	t.Parallel()
	uploader := newUser(t, region.EU, "uploader")
	f := upload(t, uploader, "video", "a.mp4", []byte(tinyVideo), "accessType", "network", "feedType", "story", "preferredFilename",
		"b\x01.mp4",
		"altText", "Ein Film", "unknown", "x")
	require.Equal(t, []any{"network", "story", "Ein Film", "b.mp4"},
		[]any{f["accessType"], f["feedType"], f["altText"], attributesOf(f)["name"]})
	require.Equal(t, f["fileUrl"], f["videoUrl"].(object)["original"])
	long := func(n int) string { return strings.Repeat("é", n) }
	for name, c := range map[string]struct {
		kind   string
		body   string
		fields []string
		want   failure
	}{
		"altText of 1000":           {"file", "x", []string{"altText", long(1000)}, failure{}},
		"altText of 1001":           {"file", "x", []string{"altText", long(1001)}, invalid("altText")},
		"altText that is no text":   {"file", "x", []string{"altText", "\xff"}, invalid("altText")},
		"preferredFilename of 1024": {"file", "x", []string{"preferredFilename", long(1024)}, failure{}},
		"preferredFilename of 1025": {"file", "x", []string{"preferredFilename", long(1025)}, invalid("preferredFilename")},
		"a huge field":              {"file", "x", []string{"metadata", long(10000)}, invalid("metadata")},
		"another accessType":        {"file", "x", []string{"accessType", "secret"}, invalid("accessType")},
		"another feedType":          {"video", tinyVideo, []string{"feedType", "cinema"}, invalid("feedType")},
		"a text as an image":        {"image", "words", nil, invalid("files[0]")},
		"a film as an image":        {"image", tinyVideo, nil, invalid("files[0]")},
		"a drawing as an image":     {"image", `<svg xmlns="http://www.w3.org/2000/svg"/>`, nil, invalid("files[0]")},
		"a text as a video":         {"video", "words", nil, invalid("files[0]")},
		"a text as audio":           {"audio", "words", nil, invalid("files[0]")},
		"an image as a clip":        {"clip", string(pngOf(t, 2, 2)), nil, invalid("files[0]")},
	} {
		t.Run(name, func(t *testing.T) {
			r := uploader.Upload(t, c.kind, "a", []byte(c.body), c.fields...)
			if c.want == (failure{}) {
				r.OK(t)
				return
			}
			requireFailure(t, c.want, r)
		})
	}
}

// TestUploadForms sends malformed and incomplete forms.
func TestUploadForms(t *testing.T) {
	t.Parallel()
	uploader := newUser(t, region.EU, "uploader")
	const part = "--B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a\"\r\n\r\nx\r\n"
	const form = "multipart/form-data; boundary=B"
	field := func(size int) string {
		return "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" + strings.Repeat("x", size) + "\r\n"
	}
	for name, c := range map[string]struct {
		contentType, body string
		want              failure
	}{
		"whole":                {form, part + "--B--", failure{}},
		"an array's name":      {form, strings.Replace(part, `"files"`, `"files[]"`, 1) + "--B--", failure{}},
		"the other name":       {form, strings.Replace(part, `"files"`, `"file"`, 1) + "--B--", failure{}},
		"both names":           {form, part + strings.Replace(part, `"files"`, `"file"`, 1) + "--B--", invalid("file")},
		"both, as an array":    {form, strings.Replace(part, `"files"`, `"file[]"`, 1) + part + "--B--", invalid("files")},
		"ten files":            {form, strings.Repeat(part, 10) + "--B--", failure{}},
		"eleven files":         {form, strings.Repeat(part, 11) + "--B--", invalid("files")},
		"no file":              {form, "--B\r\nContent-Disposition: form-data; name=\"altText\"\r\n\r\nx\r\n--B--", invalid("files")},
		"no part":              {form, "--B--", invalid("files")},
		"no body":              {form, "", invalid("files")},
		"no end":               {form, part, failure{status: 400, code: 400000}},
		"JSON":                 {"application/json", "{}", invalid("body")},
		"no boundary":          {"multipart/form-data", part + "--B--", invalid("body")},
		"fifty parts":          {form, part + strings.Repeat(field(1), 49) + "--B--", failure{}},
		"too many parts":       {form, part + strings.Repeat(field(1), 50) + "--B--", invalid("body")},
		"the longest field":    {form, part + field(16<<10) + "--B--", failure{}},
		"a field too long":     {form, part + field(16<<10+1) + "--B--", invalid("a")},
		"a header without end": {form, "--B\r\nContent-Disposition", failure{status: 400, code: 400000}},
	} {
		t.Run(name, func(t *testing.T) {
			r := uploader.With("Content-Type", c.contentType).Do(t, http.MethodPost, "/api/v4/files", c.body)
			if c.want == (failure{}) {
				r.OK(t)
				return
			}
			requireFailure(t, c.want, r)
		})
	}
	requireFailure(t, unauthorized, apptest.Shared(t).Anonymous(region.EU).Upload(t, "file", "a", []byte("x")))
	requireFailure(t, unauthorized, uploader.With("Authorization", "Bearer nonsense").Upload(t, "file", "a", []byte("x")))
	requireFailure(t, failure{status: 405, code: 400000}, uploader.Do(t, http.MethodGet, "/api/v4/files", nil))
}

// TestFileOwnership checks that only the uploader and administrators can update and delete a file.
func TestFileOwnership(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	owner, stranger := newUser(t, region.EU, "owner"), newUser(t, region.US, "stranger")
	mod := newUser(t, region.SG, "mod")
	admin(t).Do(t, http.MethodPut, "/api/v3/users", object{"userId": mod.UserID, "roles": []string{"moderator"}}).OK(t)
	id := text(upload(t, owner, "image", "a", pngOf(t, 2000, 10)), "fileId")
	path := filesPath + "/" + id
	words := object{"altText": "words"}
	requireAttempts(t, []attempt{
		{"changed by an anonymous caller", n.Anonymous(region.EU), http.MethodPut, path, words, unauthorized},
		{"changed by a stranger", stranger, http.MethodPut, path, words, notAllowed},
		{"changed by a moderator", mod, http.MethodPut, path, words, notAllowed},
		{"deleted by an anonymous caller", n.Anonymous(region.EU), http.MethodDelete, path, nil, unauthorized},
		{"deleted by a stranger", stranger, http.MethodDelete, path, nil, notAllowed},
		{"deleted by a moderator", mod, http.MethodDelete, path, nil, notAllowed},
		{"got by an anonymous caller", n.Anonymous(region.EU), http.MethodGet, path, nil, unauthorized},
		{"too many words", owner, http.MethodPut, path, object{"altText": strings.Repeat("x", 1001)}, invalid("altText")},
		{"id of 51", owner, http.MethodGet, filesPath + "/" + strings.Repeat("x", 51), nil, invalid("fileId")},
		{"unknown", owner, http.MethodGet, filesPath + "/" + unknownID, nil, notFound},
		{"unknown changed", owner, http.MethodPut, filesPath + "/" + unknownID, words, notFound},
		{"unknown deleted", owner, http.MethodDelete, filesPath + "/" + unknownID, nil, notFound},
	})
	nextMillisecond()
	changed := requireFile(t, owner.At(region.US).Do(t, http.MethodPut, path, words).OK(t).JSON(t))
	require.Equal(t, "words", changed["altText"])
	require.Greater(t, changed["updatedAt"], changed["createdAt"])
	require.Equal(t, "words", requireFile(t, owner.Do(t, http.MethodPut, path, object{}).OK(t).JSON(t))["altText"], "absent: unchanged")
	require.Empty(t, requireFile(t, admin(t).Do(t, http.MethodPut, path, object{"altText": ""}).OK(t).JSON(t))["altText"])

	require.Len(t, stored(t, n, id), 4)
	r := owner.At(region.SG).Do(t, http.MethodDelete, path, nil).OK(t)
	require.Equal(t, []any{"success", id, true}, []any{r.String(t, "status"), r.String(t, "data.fileId"), r.Bool(t, "success")})
	require.Empty(t, stored(t, n, id))
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		requireFailure(t, notFound, owner.Do(t, method, path, nil))
	}
	requireFailure(t, notFound, owner.Do(t, http.MethodGet, path+"/download", nil))
	admins := text(upload(t, owner, "file", "a", []byte("x")), "fileId")
	admin(t).At(region.US).Do(t, http.MethodDelete, filesPath+"/"+admins, nil).OK(t)
	require.Empty(t, stored(t, n, admins))
}

// TestFileIDLimits checks that downloads and metadata have the same limit for ids.
func TestFileIDLimits(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	for length, want := range map[int]failure{50: notFound, 51: invalid("fileId")} {
		path := filesPath + "/" + strings.Repeat("x", length)
		known, bytes := alice.Do(t, http.MethodGet, path, nil), alice.Do(t, http.MethodGet, path+"/download", nil)
		requireFailure(t, want, known)
		requireFailure(t, want, bytes)
		require.JSONEq(t, string(known.Body), string(bytes.Body))
	}
}

// TestFileNamesDropFolders checks that a preferred file name loses its folders, as the uploaded name does.
func TestFileNamesDropFolders(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	for given, want := range map[string]string{
		"../..//nice.png": "nice.png", "/etc/passwd": "passwd", `C:\folder\nice.png`: "nice.png", "folder/": "folder", "..": "file", "/": "file",
		`..\`: "file", "nice..png": "nice..png",
	} {
		f := upload(t, alice, "file", "own", []byte("x"), "preferredFilename", given)
		require.Equal(t, want, attributesOf(f)["name"], given)
		r := alice.Do(t, http.MethodGet, filesPath+"/"+text(f, "fileId")+"/download", nil).OK(t)
		require.Regexp(t, `filename="?`+want+`"?$`, r.Header.Get("Content-Disposition"), given)
	}
}
