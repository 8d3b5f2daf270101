package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// spec specifies the contents of an image.
type spec struct {
	binary   string
	name     string
	arch     string
	version  string
	revision string
}

// user is nonroot of distroless images. It is numeric, so that Kubernetes can verify runAsNonRoot.
const user = "65532:65532"

// epoch is the time of everything in the image, so that images are reproducible.
var epoch = time.Unix(0, 0).UTC()

// build returns an image with a single layer that contains the binary and the certificates for TLS to a database.
func build(s spec) (v1.Image, error) {
	program, err := os.ReadFile(s.binary)
	if err != nil {
		return nil, err
	}
	if err := requireStatic(program); err != nil {
		return nil, fmt.Errorf("%s: %w", s.binary, err)
	}
	content, err := archive(layer(s.name, program, certificates(certificatePaths)))
	if err != nil {
		return nil, err
	}
	packed, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(empty.Image, mutate.Addendum{
		Layer:   packed,
		History: v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "make image", Comment: s.name},
	})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, config(s, img))
}

func config(s spec, img v1.Image) *v1.ConfigFile {
	file, _ := img.ConfigFile() // reading an in-memory image cannot fail
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

// certificatePaths are the locations of the certificates of public authorities on various systems.
var certificatePaths = []string{
	"/etc/ssl/certs/ca-certificates.crt", // Debian, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",   // Red Hat
	"/etc/ssl/cert.pem",                  // macOS
}

// certificates returns the first existing bundle, or nil; then the image trusts only explicitly configured
// certificates.
func certificates(paths []string) []byte {
	for _, path := range paths {
		if bundle, err := os.ReadFile(path); err == nil {
			return bundle
		}
	}
	return nil
}

// entry is a file or a folder of an archive.
type entry struct {
	tar.Header

	content []byte
}

// layer returns what is in the image.
func layer(name string, program, bundle []byte) []entry {
	entries := []entry{
		{Header: tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o555}, content: program},
		{Header: tar.Header{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755}},
		{Header: tar.Header{Name: "etc/ssl/", Typeflag: tar.TypeDir, Mode: 0o755}},
		{Header: tar.Header{Name: "etc/ssl/certs/", Typeflag: tar.TypeDir, Mode: 0o755}},
		{Header: tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}},
	}
	if len(bundle) == 0 {
		return entries
	}
	certificates := tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Typeflag: tar.TypeReg, Mode: 0o444}
	return slices.Insert(entries, 4, entry{certificates, bundle})
}

// archive returns an archive with fixed times.
func archive(entries []entry) ([]byte, error) {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, e := range entries {
		e.Size, e.ModTime, e.Format = int64(len(e.content)), epoch, tar.FormatUSTAR
		if err := w.WriteHeader(&e.Header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buffer.Bytes(), err
}
