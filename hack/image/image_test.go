package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

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
	content, err := archive("plaza", []byte("program"), nil)
	require.NoError(t, err)
	require.NotContains(t, string(content), "ca-certificates.crt")
}
