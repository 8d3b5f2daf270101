package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// refName is the annotation from which tools take the name of an image in a layout.
const refName = "org.opencontainers.image.ref.name"

// files are the files of an OCI layout by their paths.
type files map[string][]byte

func (f files) addBlob(digest v1.Hash, content []byte) {
	f["blobs/"+digest.Algorithm+"/"+digest.Hex] = content
}

// addImage adds the manifest, the configuration and the layers of an image.
func (f files) addImage(img v1.Image) error {
	manifest, err := img.Manifest()
	if err != nil {
		return err
	}
	digest, _ := img.Digest() // the manifest exists
	raw, _ := img.RawManifest()
	configuration, err := img.RawConfigFile()
	if err != nil {
		return err
	}
	f.addBlob(digest, raw)
	f.addBlob(manifest.Config.Digest, configuration)
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	for i, layer := range layers {
		r, err := layer.Compressed()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
		f.addBlob(manifest.Layers[i].Digest, content)
	}
	return nil
}

// writeIndex writes an index with an image for each architecture as an archive of an OCI layout, which skopeo, crane, podman and ctr
// read. The binary of an architecture has its name as a suffix.
func writeIndex(s spec, tag string, architectures []string, out string) error {
	layout := files{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range architectures {
		one := s
		one.arch, one.binary = arch, s.binary+"-"+arch
		img, err := build(one)
		if err == nil {
			err = layout.addImage(img)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
		platform := v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: platform})
	}
	raw, err := index.RawManifest()
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	layout.addBlob(digest, raw)
	layout["index.json"], err = json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{{
		MediaType: types.OCIImageIndex, Digest: digest, Size: int64(len(raw)), Annotations: map[string]string{refName: tag},
	}}})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s for linux/%s\n", out, tag, strings.Join(architectures, ", linux/"))
	return layout.pack(out)
}

// pack writes the files as an archive, in the order of their names and with fixed times, so that it is reproducible.
func (f files) pack(out string) (err error) {
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	w := tar.NewWriter(file)
	defer func() { err = errors.Join(err, w.Close(), file.Close()) }()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		header := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f[name])), ModTime: epoch, Format: tar.FormatUSTAR}
		if err := errors.Join(w.WriteHeader(header), writeAll(w, f[name])); err != nil {
			return err
		}
	}
	return nil
}
