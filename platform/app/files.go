package app

import (
	"context"
	"net"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/file"
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

// files returns the file service.
func (d *dependencies) files(shared *service.Deps, links *file.Links) *file.Service {
	return file.New(shared, file.Options{
		Storage: d.storage, Links: links, MaxBytes: int64(d.cfg.MaxFileBytes), MaxPixels: int64(d.cfg.MaxImagePixels),
		StripGPS: bool(d.cfg.StripGPS), UploadTimeout: d.cfg.UploadTimeout.Std(), SettleTime: 3 * d.cfg.RequestTimeout.Std(),
	})
}
