package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// The types of a bill of materials are those parts of CycloneDX 1.6 that the build information of a Go program fills in.
type (
	bill struct {
		Format      string       `json:"bomFormat"`
		SpecVersion string       `json:"specVersion"`
		Version     int          `json:"version"`
		Metadata    metadata     `json:"metadata"`
		Components  []component  `json:"components"`
		Depends     []dependency `json:"dependencies"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		URL        string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

// writeBill writes the software bill of materials of a program: the modules that are linked into it, in the versions that it was
// built with, and the Go release of its standard library. It is the same for each build of the same program.
func writeBill(s spec, path string) error {
	info, err := buildinfo.ReadFile(s.binary)
	if err != nil {
		return fmt.Errorf("the build information of %s: %w", s.binary, err)
	}
	content, err := json.MarshalIndent(billOf(s, info), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644)
}

func billOf(s spec, info *debug.BuildInfo) bill {
	program := component{Type: "application", Ref: "program", Name: s.name, Version: s.version, URL: moduleURL(info.Main.Path, s.version)}
	for _, setting := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED", "-tags", "vcs.revision"}, setting.Key) {
			program.Properties = append(program.Properties, property{"plaza:build:" + setting.Key, setting.Value})
		}
	}
	release := strings.TrimPrefix(info.GoVersion, "go")
	all := []component{{Type: "library", Ref: "stdlib", Name: "stdlib", Version: release, URL: "pkg:golang/stdlib@" + release}}
	for _, module := range info.Deps {
		all = append(all, moduleComponent(module))
	}
	linked := dependency{Ref: program.Ref}
	for _, c := range all {
		linked.On = append(linked.On, c.Ref)
	}
	return bill{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: metadata{program}, Components: all,
		Depends: []dependency{linked},
	}
}

// moduleComponent returns the module that was linked: the replacement of one that is replaced.
func moduleComponent(m *debug.Module) component {
	if m.Replace != nil {
		m = m.Replace
	}
	at := moduleURL(m.Path, m.Version)
	c := component{Type: "library", Ref: at, Name: m.Path, Version: m.Version, URL: at}
	if m.Sum != "" {
		c.Properties = []property{{"plaza:go.sum", m.Sum}}
	}
	return c
}

// moduleURL returns the package URL of a module.
func moduleURL(path, version string) string {
	return "pkg:golang/" + path + "@" + url.PathEscape(version)
}
