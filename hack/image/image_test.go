package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// staticBinary builds a minimal program with the flags of the Makefile.
func staticBinary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example\n"), 0o600))
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", "program", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "program")
}

func TestImage(t *testing.T) {
	path := staticBinary(t)
	out := filepath.Join(t.TempDir(), "image.tar")
	args := []string{"-binary", path, "-name", "plaza", "-tag", "plaza:v1", "-arch", runtime.GOARCH, "-version", "v1", "-out", out}
	require.NoError(t, run(args))

	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(out) })
	require.NoError(t, err)
	require.Len(t, manifest, 1)
	require.Equal(t, []string{"plaza:v1"}, manifest[0].RepoTags)
	require.Len(t, manifest[0].Layers, 1)

	img, err := tarball.ImageFromPath(out, nil)
	require.NoError(t, err)
	require.NoError(t, validate.Image(img), "consistent digests and sizes")

	file, err := img.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, []string{"/plaza"}, file.Config.Entrypoint)
	require.Equal(t, "65532:65532", file.Config.User)
	require.Equal(t, "linux", file.OS)
	require.Equal(t, runtime.GOARCH, file.Architecture)
	require.Equal(t, "v1", file.Config.Labels["org.opencontainers.image.version"])
	require.Equal(t, "Apache-2.0", file.Config.Labels["org.opencontainers.image.licenses"])

	layers, err := img.Layers()
	require.NoError(t, err)
	content, err := layers[0].Uncompressed()
	require.NoError(t, err)
	defer content.Close()
	program, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, program, readEntry(t, content, "plaza", 0o555))
}

// TestBill checks the bill of materials of a program with dependencies: the one of this module.
func TestBill(t *testing.T) {
	program := filepath.Join(t.TempDir(), "image")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	read := func() bill {
		path := filepath.Join(t.TempDir(), "sbom.json")
		require.NoError(t, writeBill(spec{binary: program, name: "plaza", version: "v1.2.3"}, path))
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var b bill
		require.NoError(t, json.Unmarshal(content, &b))
		return b
	}
	b := read()
	require.Equal(t, "CycloneDX", b.Format)
	require.Equal(t, "plaza", b.Metadata.Component.Name)
	require.Equal(t, "v1.2.3", b.Metadata.Component.Version)
	versions := map[string]string{}
	for i, c := range b.Components {
		versions[c.Name] = c.Version
		require.Equal(t, b.Depends[0].On[i], c.Ref)
	}
	require.Equal(t, strings.TrimPrefix(info.GoVersion, "go"), versions["stdlib"])
	require.NotEmpty(t, info.Deps)
	for _, m := range info.Deps {
		require.Equal(t, m.Version, versions[m.Path], m.Path)
	}
	require.Equal(t, b, read(), "it is reproducible")

	replaced := moduleComponent(&debug.Module{
		Path: "a", Version: "v1",
		Replace: &debug.Module{Path: "example.com/b", Version: "v2", Sum: "h1:x"},
	})
	require.Equal(t, "pkg:golang/example.com/b@v2", replaced.URL)
}

// TestIndex writes an index with an image for each architecture.
func TestIndex(t *testing.T) {
	folder := t.TempDir()
	content, err := os.ReadFile(staticBinary(t))
	require.NoError(t, err)
	for _, arch := range []string{"amd64", "arm64"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "plaza-"+arch), content, 0o600))
	}
	archives := [2][]byte{}
	for i := range archives {
		out := filepath.Join(folder, "index.tar")
		require.NoError(t, run([]string{"-binary", filepath.Join(folder, "plaza"), "-tag", "plaza:v1", "-index", "amd64,arm64", "-out", out}))
		archives[i], err = os.ReadFile(out)
		require.NoError(t, err)
	}
	require.Equal(t, archives[0], archives[1], "it is reproducible")

	layout := unpack(t, archives[0])
	for name, content := range layout {
		if digest, isBlob := strings.CutPrefix(name, "blobs/sha256/"); isBlob {
			require.Equal(t, digest, fmt.Sprintf("%x", sha256.Sum256(content)))
		}
	}
	top := manifestOf(t, layout["index.json"])
	require.Len(t, top.Manifests, 1)
	require.Equal(t, "plaza:v1", top.Manifests[0].Annotations[refName])
	var platforms []string
	for _, m := range manifestOf(t, layout["blobs/sha256/"+top.Manifests[0].Digest.Hex]).Manifests {
		platforms = append(platforms, m.Platform.String())
		var img v1.Manifest
		require.NoError(t, json.Unmarshal(layout["blobs/sha256/"+m.Digest.Hex], &img))
		for _, part := range append(img.Layers, img.Config) {
			require.Len(t, layout["blobs/sha256/"+part.Digest.Hex], int(part.Size))
		}
		var configuration v1.ConfigFile
		require.NoError(t, json.Unmarshal(layout["blobs/sha256/"+img.Config.Digest.Hex], &configuration))
		require.Equal(t, m.Platform.Architecture, configuration.Architecture)
	}
	require.Equal(t, []string{"linux/amd64", "linux/arm64"}, platforms)

	missing := run([]string{"-binary", filepath.Join(folder, "plaza"), "-index", "amd64,riscv64", "-out", filepath.Join(folder, "x.tar")})
	require.ErrorContains(t, missing, "riscv64: ")
}

func manifestOf(t *testing.T, content []byte) v1.IndexManifest {
	t.Helper()
	var manifest v1.IndexManifest
	require.NoError(t, json.Unmarshal(content, &manifest))
	return manifest
}

// unpack returns the files of an archive.
func unpack(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	found, r := map[string][]byte{}, tar.NewReader(bytes.NewReader(content))
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		found[header.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
}

// readEntry returns the content of a file in a layer and checks its mode.
func readEntry(t *testing.T, layer io.Reader, name string, mode int64) []byte {
	t.Helper()
	r := tar.NewReader(layer)
	for {
		header, err := r.Next()
		require.NoError(t, err, "no %s in the layer", name)
		if header.Name != name {
			continue
		}
		require.Equal(t, mode, header.Mode)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		return content
	}
}

func TestImageIsReproducible(t *testing.T) {
	s := spec{binary: staticBinary(t), name: "plaza", arch: "amd64"}
	first, err := build(s)
	require.NoError(t, err)
	second, err := build(s)
	require.NoError(t, err)
	a, err := first.Digest()
	require.NoError(t, err)
	b, err := second.Digest()
	require.NoError(t, err)
	require.Equal(t, a, b)
}

func TestInvalidArguments(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("#!/bin/sh\n"), 0o600))
	static := staticBinary(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no binary":       {[]string{"-out", "x"}, "no such file"},
		"not a binary":    {[]string{"-binary", text, "-out", "x"}, "not a Linux binary"},
		"a bad tag":       {[]string{"-binary", static, "-tag", "A B", "-out", "x"}, "repository can only contain"},
		"an unknown flag": {[]string{"-unknown"}, "not defined"},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, run(c.args), c.want) })
	}
}

func TestDynamicBinaryIsRejected(t *testing.T) {
	var program bytes.Buffer
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	copy(header.Ident[:], []byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)})
	require.NoError(t, binary.Write(&program, binary.LittleEndian, header))
	require.NoError(t, binary.Write(&program, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_INTERP)}))
	require.ErrorContains(t, requireStatic(program.Bytes()), "dynamic linker")
}

func TestCertificatesAreOptional(t *testing.T) {
	require.Nil(t, certificates([]string{"/does/not/exist"}))
	content, err := archive(layer("plaza", []byte("program"), nil))
	require.NoError(t, err)
	require.NotContains(t, string(content), "ca-certificates.crt")
}
