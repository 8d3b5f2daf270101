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

// archive is where the image of one of our own programs is.
func (c cluster) archive(name string) string { return c.program(name + ".tar") }

// pack writes the image of a program of ours, with the tool that writes Plaza's, unless it is newer than the program.
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

// load brings images to every node. A pod must not pull them: imagePullPolicy IfNotPresent or Never.
func load(ctx context.Context, c cluster, args []string, out io.Writer) error {
	for _, name := range args {
		archive, err := c.find(name)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if !c.running(n.region + "/containerd") {
				return errors.New("the cluster is not up")
			}
			words, err := c.ctr(ctx, n, "images", "import", archive)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s: %s\n", n.name(), strings.Join(strings.Fields(words), " "))
		}
	}
	return nil
}

// find returns the path of a file that is named from the working folder, or from the repository: `go -C` changes the former.
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

// ctr speaks to the container runtime of a node.
func (c cluster) ctr(ctx context.Context, n node, args ...string) (string, error) {
	return sh(ctx, "ctr", append([]string{"-a", c.socket(n), "-n", "k8s.io"}, args...)...)
}
