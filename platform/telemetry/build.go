package telemetry

import (
	"runtime"
	"runtime/debug"
)

// version is set at link time: -ldflags "-X github.com/plaza-social/plaza/platform/telemetry.version=v1.2.3".
var version string

// Build identifies the build of the running program.
type Build struct {
	Version   string `json:"version"`   // release, or "devel"
	Revision  string `json:"revision"`  // commit, with "+dirty" if the tree was modified; "unknown" if not recorded
	GoVersion string `json:"goVersion"` // Go release that compiled it
}

// BuildInfo returns what the linker and the Go tool recorded in the program.
func BuildInfo() Build {
	b := Build{Version: "devel", Revision: "unknown", GoVersion: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.readModule(info)
	}
	if version != "" {
		b.Version = version
	}
	return b
}

func (b *Build) readModule(info *debug.BuildInfo) {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	settings := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if rev := settings["vcs.revision"]; rev != "" {
		b.Revision = rev
		if settings["vcs.modified"] == "true" {
			b.Revision += "+dirty"
		}
	}
}
