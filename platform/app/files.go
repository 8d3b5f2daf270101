package app

import (
	"context"
	"net"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/audit"
	"github.com/plaza-social/plaza/platform/service/export"
	"github.com/plaza-social/plaza/platform/service/file"
	"github.com/plaza-social/plaza/platform/service/room"
	"github.com/plaza-social/plaza/platform/storage"
)

// publicURL returns the URL at which clients reach the region: the configured one or, by default, the listener's.
func (r *Region) publicURL() string {
	if r.cfg.PublicURL != "" {
		return string(r.cfg.PublicURL)
	}
	scheme := "http://"
	if r.cfg.UsesTLS() {
		scheme = "https://"
	}
	host, port, err := net.SplitHostPort(r.APIAddr())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return scheme + net.JoinHostPort("localhost", port)
	}
	return scheme + r.APIAddr()
}

// openStorage opens the storage of file contents. A network without storage has no files.
func (d *dependencies) openStorage(ctx context.Context) error {
	urls := d.cfg.StorageURLs()
	if len(urls) == 0 {
		d.log.WarnContext(ctx, "storage-url is not set: files cannot be uploaded or downloaded")
	}
	var err error
	if d.storage, err = storage.Open(ctx, urls); err != nil {
		return err
	}
	d.storage.SetHomeOf(d.store.HomeOf)
	return nil
}

// close releases what assemble opened.
func (d *dependencies) close() {
	d.store.Close()
	d.tracing.Close(d.limits.FlushTraces)
	if d.storage != nil {
		_ = d.storage.Close() // all requests have ended
	}
}

// files returns the file service and makes every answer use its file URLs.
func (d *dependencies) files(shared *service.Deps) (*file.Service, error) {
	links, err := file.NewLinks(d.publicURL, string(d.cfg.NetworkID), []byte(d.cfg.DirectoryKey.Reveal()), d.signing, d.cfg.FileURLTTL.Std(), d.millis)
	if err != nil {
		return nil, err
	}
	shared.View.FileURL = links.URL
	return file.New(shared, file.Options{
		Storage: d.storage, Links: links, MaxBytes: int64(d.cfg.MaxFileBytes), MaxPixels: int64(d.cfg.MaxImagePixels),
		StripGPS: bool(d.cfg.StripGPS), UploadTimeout: d.cfg.UploadTimeout.Std(), SettleTime: 3 * d.cfg.RequestTimeout.Std(),
	}), nil
}

// fileStreams returns the streaming handlers of uploads and downloads.
func (d *dependencies) fileStreams(files *file.Service, limits *edge.RateLimits, recorder *audit.Recorder, once *idempotency) []edge.Stream {
	return (&edge.FileStreams{
		Files: files, Log: d.log, RateLimits: limits, Record: recorder.Record, Once: once.upload,
	}).Streams()
}

// exportStreams returns the streaming handlers of exports.
func (d *dependencies) exportStreams(exports *export.Service, limits *edge.RateLimits) []edge.Stream {
	return (&edge.ExportStreams{Exports: exports, Log: d.log, RateLimits: limits}).Streams()
}

// recordingStreams returns the handlers that redirect to the recordings of rooms.
func recordingStreams(shared *service.Deps, limits *edge.RateLimits) []edge.Stream {
	return (&edge.RecordingStreams{Rooms: room.New(shared), RateLimits: limits}).Streams()
}
