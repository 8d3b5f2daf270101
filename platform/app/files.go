package app

import (
	"context"
	"net"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/file"
	"github.com/plaza-social/plaza/platform/storage"
)

// publicURL is the address at which clients reach the region: the configured one, or that of the listener.
func (r *Region) publicURL() string {
	if r.cfg.PublicURL != "" {
		return string(r.cfg.PublicURL)
	}
	host, port, err := net.SplitHostPort(r.APIAddr())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return "http://" + net.JoinHostPort("localhost", port)
	}
	return "http://" + r.APIAddr()
}

// openStorage opens where the bytes of files are kept. A network without is a network without files.
func (d *dependencies) openStorage(ctx context.Context) error {
	urls := d.cfg.StorageURLs()
	if len(urls) == 0 {
		d.log.WarnContext(ctx, "no storage-url: files can be neither uploaded nor downloaded")
	}
	var err error
	d.storage, err = storage.Open(ctx, urls)
	return err
}

// close ends what assemble opened.
func (d *dependencies) close() {
	d.store.Close()
	if d.storage != nil {
		_ = d.storage.Close() // nothing is under way any more
	}
}

// files makes the service of files; the addresses that it makes are those of every noun's answers.
func (d *dependencies) files(shared *service.Deps) (*file.Service, error) {
	links, err := file.NewLinks(d.publicURL, string(d.cfg.NetworkID), []byte(d.cfg.DirectoryKey.Reveal()), d.cfg.FileURLTTL.Std(), service.Millis)
	if err != nil {
		return nil, err
	}
	shared.View.FileURL = links.URL
	return file.New(shared, file.Options{
		Storage: d.storage, Links: links, MaxBytes: int64(d.cfg.MaxFileBytes), MaxPixels: int64(d.cfg.MaxImagePixels),
		StripGPS: bool(d.cfg.StripGPS), UploadTimeout: d.cfg.UploadTimeout.Std(),
	}), nil
}

// fileStreams are how the bytes of files come in and go out.
func (d *dependencies) fileStreams(files *file.Service) []edge.Stream {
	return (&edge.FileStreams{Files: files, Identify: auth.NewAuthenticator(d.issuer).Identify, Log: d.log}).Streams()
}

// fileWorkers sweep up after uploads.
func (d *dependencies) fileWorkers(files *file.Service) []worker {
	if !d.storage.Has(d.cfg.Region) {
		return nil
	}
	return []worker{{name: "upload sweep", run: func(ctx context.Context) error {
		files.Sweep().Run(ctx, d.cfg.Region)
		return nil
	}}}
}
