package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// archive returns the path of the image archive of a program built here.
func (c cluster) archive(name string) string { return c.program(name + ".tar") }

// pack writes the image of a program built here, with the same tool as Plaza's images, unless it is up to date.
func (c cluster) pack(ctx context.Context, name, tag string) error {
	program, err := os.Stat(c.program(name))
	if err != nil {
		return err
	}
	if image, err := os.Stat(c.archive(name)); err == nil && image.ModTime().After(program.ModTime()) {
		return nil
	}
	_, err = sh(ctx, "go", "-C", filepath.Join(c.repo, "hack", "image"), "run", ".",
		"-binary", c.program(name), "-name", name, "-tag", tag, "-arch", runtime.GOARCH, "-out", c.archive(name))
	return err
}

// load imports images on every node. Pods must use them with imagePullPolicy IfNotPresent or Never.
func load(ctx context.Context, c cluster, args []string, out io.Writer) error {
	for _, name := range args {
		archive, err := c.find(name)
		if err != nil {
			return err
		}
		for _, one := range c.clusters() {
			if err := one.loadArchive(ctx, archive, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadArchive imports the images of an archive on the nodes of one cluster.
func (c cluster) loadArchive(ctx context.Context, archive string, out io.Writer) error {
	for _, n := range c.nodes() {
		if !c.running(n.region + "/containerd") {
			return errors.New("the cluster is not running")
		}
		words, err := c.ctr(ctx, n, "images", "import", archive)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s\n", n.name(), strings.Join(strings.Fields(words), " "))
	}
	return nil
}

// find returns the path of a file given relative to the working directory or, because `go -C` changes that, the
// repository.
func (c cluster) find(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil || exists(path) {
		return path, err
	}
	if path = filepath.Join(c.repo, name); exists(path) {
		return path, nil
	}
	return "", fmt.Errorf("no file %s", name)
}

// ctr runs ctr on a node's container runtime.
func (c cluster) ctr(ctx context.Context, n node, args ...string) (string, error) {
	return sh(ctx, "ctr", append([]string{"-a", c.socket(n), "-n", "k8s.io"}, args...)...)
}
