package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// spec says what goes into an image.
type spec struct {
	binary   string
	name     string
	arch     string
	version  string
	revision string
}

// user is the nobody of distroless images: a number, so that Kubernetes can verify runAsNonRoot.
const user = "65532:65532"

// epoch is the time of everything in the image: the same sources give the same digest.
var epoch = time.Unix(0, 0).UTC()

// build makes an image of one layer on nothing: the binary, and the certificates that TLS to a database needs.
func build(s spec) (v1.Image, error) {
	program, err := os.ReadFile(s.binary)
	if err != nil {
		return nil, err
	}
	if err := requireStatic(program); err != nil {
		return nil, fmt.Errorf("%s: %w", s.binary, err)
	}
	content, err := archive(s.name, program, certificates(certificatePaths))
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(empty.Image, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "make image", Comment: s.name},
	})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, config(s, img))
}

func config(s spec, img v1.Image) *v1.ConfigFile {
	file, _ := img.ConfigFile() // an image made in memory cannot fail to read itself
	file = file.DeepCopy()
	file.Architecture, file.OS, file.Created = s.arch, "linux", v1.Time{Time: epoch}
	file.Config = v1.Config{
		Entrypoint: []string{"/" + s.name},
		User:       user,
		WorkingDir: "/",
		Env:        []string{"PATH=/"},
		Labels: map[string]string{
			"org.opencontainers.image.title":    s.name,
			"org.opencontainers.image.version":  s.version,
			"org.opencontainers.image.revision": s.revision,
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.source":   "https://github.com/plaza-social/plaza",
		},
	}
	return file
}

// certificatePaths is where systems keep the certificates of public authorities.
var certificatePaths = []string{
	"/etc/ssl/certs/ca-certificates.crt", // Debian, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",   // Red Hat
	"/etc/ssl/cert.pem",                  // macOS
}

// certificates returns the first bundle there is, or nothing: then the image trusts only what a flag or a mount names.
func certificates(paths []string) []byte {
	for _, path := range paths {
		if bundle, err := os.ReadFile(path); err == nil {
			return bundle
		}
	}
	return nil
}

func archive(name string, program, bundle []byte) ([]byte, error) {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	headers := []struct {
		tar.Header
		content []byte
	}{
		{Header: tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o555}, content: program},
		{Header: tar.Header{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755}},
		{Header: tar.Header{Name: "etc/ssl/", Typeflag: tar.TypeDir, Mode: 0o755}},
		{Header: tar.Header{Name: "etc/ssl/certs/", Typeflag: tar.TypeDir, Mode: 0o755}},
		{Header: tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Typeflag: tar.TypeReg, Mode: 0o444}, content: bundle},
		{Header: tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}},
	}
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg && len(h.content) == 0 {
			continue
		}
		h.Size, h.ModTime, h.Format = int64(len(h.content)), epoch, tar.FormatUSTAR
		if err := errors.Join(w.WriteHeader(&h.Header), writeAll(w, h.content)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

func writeAll(w io.Writer, content []byte) error {
	_, err := w.Write(content)
	return err
}
