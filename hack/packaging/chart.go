package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
)

func chartFolder(root string) string { return filepath.Join(root, "charts", "plaza-operator") }

// writeChart writes the chart's archive for a version of the repository: its appVersion is the tag of the images.
func writeChart(root, version, out string) error {
	c, err := loadChart(root)
	if err != nil {
		return err
	}
	c.Metadata.Version, c.Metadata.AppVersion = chartVersion(version), version
	path, err := chartutil.Save(c, out)
	if err != nil {
		return err
	}
	fmt.Printf("%s: images of %s\n", path, version)
	return nil
}

func loadChart(root string) (*chart.Chart, error) { return loader.LoadDir(chartFolder(root)) }

var (
	semantic   = regexp.MustCompile(`^v?(\d+\.\d+\.\d+([-+].*)?)$`)
	notVersion = regexp.MustCompile(`[^0-9A-Za-z-]+`)
)

// chartVersion makes a semantic version of what git describes: v1.2.3-4-gabc is 1.2.3-4-gabc, a commit alone comes before
// every version.
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
