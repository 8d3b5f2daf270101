// Package transfer has the operations whose requests or responses are bytes instead of messages: uploads, downloads, archives, exports of
// the audit and redirects to recordings.
package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/file"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Files uploads and downloads files.
type Files struct {
	Files *file.Service
	Log   *slog.Logger
	// Once finishes an upload whose form has a digest, once for each Idempotency-Key in header. It sets headers of the
	// response.
	Once func(
		ctx context.Context, header, response http.Header, procedure string, digest []byte, finish func(context.Context) ([]*plazav1.File, error),
	) ([]*plazav1.File, error)
	RateLimits *edge.RateLimits
	// Record returns ctx for an upload whose caller is audited; nil if none is.
	Record func(ctx context.Context, procedure string) context.Context
}

// uploads are the upload routes with the kind of file that each accepts. The deprecated v3 route accepts every kind and
// wraps its response.
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

// UploadProcedures returns the procedures of the uploads.
func UploadProcedures() []string {
	var all []string
	for _, u := range uploads {
		all = append(all, fileProcedures+u.name)
	}
	return all
}

// Streams returns the operations, for edge.Options.
func (f *Files) Streams() []edge.Stream {
	streams := []edge.Stream{
		{Procedure: fileProcedures + "DownloadFile", Method: http.MethodGet, Path: "/api/v3/files/{fileId}/download", Serve: f.download},
		{
			Procedure: fileProcedures + "DownloadRestrictedFile", Method: http.MethodGet, Path: "/api/v3/files/{fileId}/download/{proof}",
			Serve: f.download,
		},
	}
	for _, u := range uploads {
		streams = append(streams, edge.Stream{
			Procedure: fileProcedures + u.name, Method: http.MethodPost, Path: u.path,
			Serve: func(w http.ResponseWriter, request *http.Request) error {
				return f.upload(w, request, u.kind, u.wrapped)
			},
		})
	}
	return streams
}

// writeFiles writes the response to an upload: an array, or an object that wraps it.
func writeFiles(w http.ResponseWriter, files []*plazav1.File, wrapped bool) error {
	list := make([]json.RawMessage, len(files))
	for i, f := range files {
		raw, err := edge.MarshalJSON(f)
		if err != nil {
			return err
		}
		list[i] = raw
	}
	var response any = list
	if wrapped {
		response = map[string]any{"status": "success", "data": list}
	}
	body, err := json.Marshal(response)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // fails if the client has disconnected
	return nil
}

const maxFileID = 50 // characters, as in the validation rules of the proto files

// download serves the content of a file, or the requested range of it.
func (f *Files) download(w http.ResponseWriter, request *http.Request) error {
	ctx := request.Context()
	if request.Header.Get("Authorization") != "" {
		// Invalid credentials are ignored: a public file needs none, and the service rejects unidentified callers of
		// others.
		if identified, err := f.RateLimits.Identify(ctx, request.Header); err == nil {
			ctx = identified
		}
	}
	if err := f.RateLimits.AdmitDownload(ctx); err != nil {
		return err
	}
	// Public clients append "?size=…" to file URLs, even to a signed URL that has a query already.
	query := parseQuery(strings.ReplaceAll(request.URL.RawQuery, "?", "&"))
	id := request.PathValue("fileId")
	if utf8.RuneCountInString(id) > maxFileID {
		return fail.Validation(fmt.Sprintf("fileId: must be at most %d characters", maxFileID))
	}
	content, err := f.Files.Download(ctx, file.Address{
		FileID: id, Size: query.Get("size"), Token: query.Get("t"), Proof: request.PathValue("proof"),
	})
	if err != nil {
		return err
	}
	defer func() { logCloseError(f.Log, request, "file", content.Close()) }()
	contentHeaders(w.Header(), content)
	http.ServeContent(&contentWriter{ResponseWriter: w}, request, "", content.Modified, content)
	return nil
}

// contentWriter replaces the text that net/http sends for a range outside of the file by the error body.
type contentWriter struct {
	http.ResponseWriter
	replaced bool
}

// WriteHeader implements http.ResponseWriter.
func (w *contentWriter) WriteHeader(status int) {
	if status != http.StatusRequestedRangeNotSatisfiable {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.replaced = true
	failed := fail.BadRequest().WithDetails("Range: must be within the file; Content-Range has its size")
	edge.WriteError(w.ResponseWriter, failed, status)
}

// Write implements http.ResponseWriter.
func (w *contentWriter) Write(data []byte) (int, error) {
	if w.replaced {
		return len(data), nil
	}
	return w.ResponseWriter.Write(data)
}

// publicAge is the max-age of public files, in seconds. Caches may serve a deleted file for this long.
const publicAge = "3600"

func contentHeaders(header http.Header, content *file.Content) {
	disposition := "attachment"
	if content.Inline {
		disposition = "inline"
	}
	header.Set("Content-Type", content.MimeType)
	header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": content.Name}))
	// Browsers must not run scripts of uploaded files.
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin") // pages of other origins embed files
	header.Set("Etag", `"`+content.Tag+`"`)
	if content.Public {
		header.Set("Cache-Control", "public, max-age="+publicAge)
		return
	}
	header.Set("Cache-Control", "private, max-age="+publicAge)
}

// logCloseError logs an error of Close, which has no other consequence.
func logCloseError(log *slog.Logger, request *http.Request, what string, err error) {
	if err != nil {
		log.DebugContext(request.Context(), "close failed", "what", what, "error", err)
	}
}
