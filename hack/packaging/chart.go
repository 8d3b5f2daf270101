package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
)

func chartFolder(root string) string { return filepath.Join(root, "charts", "plaza-operator") }

// writeChart writes the chart's archive for a version of the repository. Its values contain the images' names and its
// appVersion is their tag.
func writeChart(root, version string, m images, out string) error {
	c, err := loadChart(root)
	if err != nil {
		return err
	}
	operator, tag, err := splitImage(m.operator)
	if err != nil {
		return err
	}
	platform, platformTag, err := splitImage(m.platform)
	if err != nil {
		return err
	}
	if tag != platformTag {
		return fmt.Errorf("the images have different tags, %s and %s", tag, platformTag)
	}
	c.Metadata.Version, c.Metadata.AppVersion = chartVersion(version), tag
	for _, file := range c.Raw {
		if file.Name == chartutil.ValuesfileName { // edited as text to keep its comments
			file.Data = bytes.Replace(file.Data, []byte("repository: plaza-operator\n"), []byte("repository: "+operator+"\n"), 1)
			file.Data = bytes.Replace(file.Data, []byte("repository: plaza\n"), []byte("repository: "+platform+"\n"), 1)
		}
	}
	path, err := chartutil.Save(c, out)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", path, m.operator)
	return nil
}

func loadChart(root string) (*chart.Chart, error) { return loader.LoadDir(chartFolder(root)) }

var (
	semantic   = regexp.MustCompile(`^v?(\d+\.\d+\.\d+([-+].*)?)$`)
	notVersion = regexp.MustCompile(`[^0-9A-Za-z-]+`)
)

// chartVersion converts the output of git describe to a semantic version: v1.2.3-4-gabc becomes 1.2.3-4-gabc, and a
// commit alone becomes a version that precedes all others.
func chartVersion(version string) string {
	if m := semantic.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	name := strings.Trim(notVersion.ReplaceAllString(version, "-"), "-")
	if name == "devel" {
		return "0.0.0-devel"
	}
	return "0.0.0-g" + name
}
