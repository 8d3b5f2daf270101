package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// refName is the annotation from which tools take the name of an image in a layout.
const refName = "org.opencontainers.image.ref.name"

// writeIndex writes an index with an image for each architecture as an archive of an OCI layout, which skopeo, crane, podman and ctr
// read. The binary of an architecture has its name as a suffix.
func writeIndex(s spec, tag string, architectures []string, out string) (err error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range architectures {
		one := s
		one.arch, one.binary = arch, s.binary+"-"+arch
		img, err := build(one)
		if err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
		platform := v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: platform})
	}
	folder, err := os.MkdirTemp("", "plaza-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	files, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := files.AppendIndex(index, layout.WithAnnotations(map[string]string{refName: tag})); err != nil {
		return err
	}
	fmt.Printf("%s: %s for linux/%s\n", out, tag, strings.Join(architectures, ", linux/"))
	return pack(folder, out)
}

// pack writes the files of a folder as an archive, in the order of their names and with fixed times, so that it is reproducible.
func pack(folder, out string) error {
	var entries []entry
	err := filepath.WalkDir(folder, func(path string, found fs.DirEntry, err error) error {
		if err != nil || found.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		entries = append(entries, entry{tar.Header{Name: filepath.ToSlash(name), Typeflag: tar.TypeReg, Mode: 0o644}, content})
		return err
	})
	if err != nil {
		return err
	}
	archived, err := archive(entries)
	if err != nil {
		return err
	}
	return os.WriteFile(out, archived, 0o644)
}
