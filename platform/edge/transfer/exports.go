package transfer

import (
	"log/slog"
	"mime"
	"net/http"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/service/export"
)

// Exports downloads the archives of exports.
type Exports struct {
	Exports    *export.Service
	Log        *slog.Logger
	RateLimits *edge.RateLimits
}

// Streams returns the operations, for edge.Options.
func (e *Exports) Streams() []edge.Stream {
	return []edge.Stream{{
		Procedure: "/plaza.v1.ExportService/DownloadExport", Method: http.MethodGet, Path: "/api/v4/users/{userId}/export/archive",
		Serve: e.download,
	}}
}

// download serves an archive, or the requested range of it.
func (e *Exports) download(w http.ResponseWriter, request *http.Request) error {
	ctx, err := e.RateLimits.AdmitRequest(request.Context(), request.Header)
	if err != nil {
		return err
	}
	archive, err := e.Exports.Download(ctx, request.PathValue("userId"))
	if err != nil {
		return err
	}
	defer func() { logCloseError(e.Log, request, "export", archive.Close()) }()
	header := w.Header()
	header.Set("Content-Type", "application/zip")
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": archive.Name}))
	header.Set("Cache-Control", "no-store")
	header.Set("Etag", `"`+archive.Tag+`"`)
	http.ServeContent(&contentWriter{ResponseWriter: w}, request, "", archive.Modified, archive)
	return nil
}
