// Program image packs a static binary into a container image and writes it as an archive for `docker load`, `podman
// load` and `ctr images import`. It needs no container daemon.
//
//	go run . -binary bin/plaza -name plaza -tag plaza:dev -arch amd64 -out bin/plaza-image.tar
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	err := run(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var s spec
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&s.binary, "binary", "", "static binary to pack")
	flags.StringVar(&s.name, "name", "plaza", "name of the program, which is stored as /name in the image")
	flags.StringVar(&s.arch, "arch", "amd64", "architecture of the binary")
	flags.StringVar(&s.version, "version", "devel", "version, for the label")
	flags.StringVar(&s.revision, "revision", "unknown", "commit, for the label")
	tag := flags.String("tag", "plaza:dev", "name and tag of the image")
	out := flags.String("out", "", "archive to write")
	sbom := flags.String("sbom", "", "software bill of materials to write, in the format CycloneDX")
	index := flags.String("index", "",
		"architectures of an image index to write instead of an image, such as amd64,arm64; their binaries have the suffixes -amd64 and -arm64")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *index != "" {
		return writeIndex(s, *tag, strings.Split(*index, ","), *out)
	}
	if *sbom != "" {
		if err := writeBill(s, *sbom); err != nil {
			return err
		}
	}
	return write(s, *tag, *out)
}

func write(s spec, tag, out string) error {
	reference, err := name.NewTag(tag)
	if err != nil {
		return err
	}
	img, err := build(s)
	if err != nil {
		return err
	}
	if err := tarball.WriteToFile(out, reference, img); err != nil {
		return err
	}
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s linux/%s, %.1f MiB\n", out, tag, s.arch, float64(info.Size())/(1<<20))
	return nil
}
