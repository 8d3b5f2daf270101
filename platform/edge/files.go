package edge

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/file"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FileStreams are how the bytes of files come in and go out.
type FileStreams struct {
	Files *file.Service
	// Identify returns ctx with the caller that header tells of, not yet confirmed, or an error.
	Identify func(ctx context.Context, header http.Header) (context.Context, error)
	Log      *slog.Logger
}

// uploads are the addresses of uploads, by what they take. The older one takes everything, and wraps its answer.
var uploads = []struct {
	name, path string
	kind       file.Kind
	wrapped    bool
}{
	{"UploadFile", "/api/v4/files", "file", false},
	{"UploadImage", "/api/v4/images", "image", false},
	{"UploadVideo", "/api/v4/videos", "video", false},
	{"UploadClip", "/api/v4/clips", "clip", false},
	{"UploadAudio", "/api/v4/audios", "audio", false},
	{"UploadAny", "/api/v3/files", file.Any, true},
}

const fileProcedures = "/plaza.v1.FileService/"

// Streams are the operations for New.
func (f *FileStreams) Streams() []Stream {
	streams := []Stream{{
		Procedure: fileProcedures + "DownloadFile", Method: http.MethodGet, Path: "/api/v3/files/{fileId}/download", Serve: f.download,
	}}
	for _, u := range uploads {
		streams = append(streams, Stream{
			Procedure: fileProcedures + u.name, Method: http.MethodPost, Path: u.path,
			Serve: func(w http.ResponseWriter, request *http.Request) error {
				return f.upload(w, request, u.kind, u.wrapped)
			},
		})
	}
	return streams
}

// writeFiles answers an upload: with a bare array, or an object around it.
func writeFiles(w http.ResponseWriter, files []*plazav1.File, wrapped bool) error {
	list := make([]json.RawMessage, len(files))
	for i, f := range files {
		raw, err := jsonCodec{codecJSON}.Marshal(f)
		if err != nil {
			return err
		}
		list[i] = raw
	}
	var answer any = list
	if wrapped {
		answer = map[string]any{"status": "success", "data": list}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a client that is gone finds its files by nothing
	return nil
}

const maxFileID = 50 // characters, as in the messages about files

// download answers with the bytes of a file, or the part of them that the request asks for.
func (f *FileStreams) download(w http.ResponseWriter, request *http.Request) error {
	ctx := request.Context()
	if request.Header.Get("Authorization") != "" {
		// A public file is for everybody, whatever they show; of another one the service asks who it is.
		if identified, err := f.Identify(ctx, request.Header); err == nil {
			ctx = identified
		}
	}
	// Public clients append ?size=… to an address, and the signed one has a query already.
	query := parseQuery(strings.ReplaceAll(request.URL.RawQuery, "?", "&"))
	id := request.PathValue("fileId")
	if utf8.RuneCountInString(id) > maxFileID {
		return fail.Validation(fmt.Sprintf("fileId: must be at most %d characters", maxFileID))
	}
	content, err := f.Files.Download(ctx, id, query.Get("size"), query.Get("t"))
	if err != nil {
		return err
	}
	defer func() { logClosed(f.Log, request, "file", content.Close()) }()
	contentHeaders(w.Header(), content)
	out := newPatientWriter(w)
	defer out.lift()
	http.ServeContent(out, request, "", content.Modified, content)
	return nil
}

// publicAge is how long others may keep a public file without asking: no longer than people can wait for one that was
// deleted to be gone.
const publicAge = "3600"

func contentHeaders(header http.Header, content *file.Content) {
	disposition := "attachment"
	if content.Inline {
		disposition = "inline"
	}
	header.Set("Content-Type", content.MimeType)
	header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": content.Name}))
	// Whatever somebody uploaded, a browser that shows it runs none of it.
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin") // pages elsewhere show these pictures
	header.Set("Etag", `"`+content.Tag+`"`)
	if content.Public {
		header.Set("Cache-Control", "public, max-age="+publicAge)
		return
	}
	header.Set("Cache-Control", "private, max-age="+publicAge)
}
