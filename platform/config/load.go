package config

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// FileFlag is the flag for the path of the YAML file. Its variable is PLAZA_CONFIG.
const FileFlag = "config"

// Error is a one-line configuration error that states its source. The program exits with code 2.
type Error struct {
	Source string // "flag --listen", "PLAZA_LISTEN", "plaza.yaml:3: listen"
	Reason string // "\"x\" is not an address like …"
}

// Error returns the source and the reason.
func (e *Error) Error() string { return e.Source + ": " + e.Reason }

// AddFlags adds --config and a flag for every setting.
func AddFlags(flags *pflag.FlagSet) {
	flags.String(FileFlag, "", "YAML file whose keys are the settings below")
	var c Config
	for _, s := range settingsOf(&c) {
		flags.Var(&textFlag{text: s.def}, s.name, s.help)
		if s.secret {
			flags.Var(&textFlag{}, s.name+fileSuffix, "file that contains "+s.name)
		}
	}
}

// textFlag accepts any text. Values are parsed later, so that the errors of all layers look alike.
type textFlag struct{ text string }

func (f *textFlag) String() string { return f.text }
func (f *textFlag) Type() string   { return "value" }
func (f *textFlag) Set(text string) error {
	f.text = text
	return nil
}

// Load reads the four layers: defaults, the file, variables from lookupEnv, and the flags that were set. flags may be
// nil. The error is an *Error.
func Load(flags *pflag.FlagSet, lookupEnv func(string) (string, bool)) (Config, error) {
	c := Default()
	layers, err := layersOf(flags, lookupEnv)
	if err != nil {
		return Config{}, err
	}
	for _, s := range settingsOf(&c) {
		for _, layer := range layers {
			if err := layer.apply(s); err != nil {
				return Config{}, err
			}
		}
	}
	c.DatabaseURL = c.commonDatabaseURL()
	return c, nil
}

// layer is a source of values.
type layer struct {
	lookup func(name string) (text string, ok bool)
	source func(name string) string
	// hides reports whether errors leave out the value: that of a variable may come from a Secret.
	hides bool
}

func layersOf(flags *pflag.FlagSet, lookupEnv func(string) (string, bool)) ([]layer, error) {
	env := layer{
		lookup: func(name string) (string, bool) {
			text, ok := lookupEnv(envName(name))
			return text, ok && strings.TrimSpace(text) != "" // an empty variable counts as not set
		},
		source: envName,
		hides:  true,
	}
	flag := layer{
		lookup: func(name string) (string, bool) { return givenFlag(flags, name) },
		source: func(name string) string { return "flag " + flagName(name) },
	}
	for _, l := range []layer{flag, env} {
		if path, ok := l.lookup(FileFlag); ok {
			file, err := fileLayer(path, l.source(FileFlag))
			return []layer{file, env, flag}, err
		}
	}
	return []layer{env, flag}, nil
}

func givenFlag(flags *pflag.FlagSet, name string) (string, bool) {
	if flags == nil || !flags.Changed(name) {
		return "", false
	}
	return flags.Lookup(name).Value.String(), true
}

// apply sets s if the layer has a value for it.
func (l layer) apply(s setting) error {
	text, source, given, err := l.given(s)
	if err != nil || !given {
		return err
	}
	if err := s.set(text); err != nil {
		reason := err.Error()
		if l.hides {
			reason = withoutValue(reason, text)
		}
		return &Error{Source: source, Reason: reason}
	}
	return nil
}

// shortestHidden is the length of a part of a value in bytes from which a reason must not contain it.
const shortestHidden = 4

// withoutValue removes a value from the reason for which it is invalid.
func withoutValue(reason, value string) string {
	parts := append([]string{value}, strings.Split(value, ",")...)
	for _, part := range parts {
		quoted := strconv.Quote(strings.TrimSpace(part))
		reason = strings.ReplaceAll(strings.ReplaceAll(reason, " "+quoted, ""), quoted, "the value")
	}
	for _, part := range parts {
		if part = strings.TrimSpace(part); len(part) >= shortestHidden && strings.Contains(reason, part) {
			return "the value is not valid"
		}
	}
	return reason
}

// given returns the layer's value for s and its source. The value of a secret may come from a file.
func (l layer) given(s setting) (text, source string, given bool, err error) {
	text, given = l.lookup(s.name)
	text = s.trim(text)
	source = l.source(s.name)
	path, byPath := l.lookup(s.name + fileSuffix)
	if !s.secret || !byPath {
		return text, source, given, nil
	}
	if given {
		return "", source, false, &Error{Source: source, Reason: "must not be set together with " + l.source(s.name+fileSuffix)}
	}
	source = l.source(s.name + fileSuffix)
	text, err = readSecret(path)
	if err != nil {
		return "", source, false, &Error{Source: source, Reason: err.Error()}
	}
	return text, source, true, nil
}

// readSecret reads a secret from a file and trims surrounding white space, such as a trailing newline.
func readSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return secret, nil
}

// CheckServe reports a setting that `plaza serve` requires but no layer sets, a secret that can be guessed, and settings
// that contradict each other. The error is an *Error.
func (c Config) CheckServe() error {
	if err := c.check(func(s setting) bool { return s.required }); err != nil {
		return err
	}
	for _, s := range settingsOf(&c) {
		if err := checkStrength(s); err != nil {
			return err
		}
	}
	if (c.TLSCertFile == "") != (c.TLSKeyFile == "") {
		return &Error{Source: "tls-cert-file", Reason: "must be set together with tls-key-file"}
	}
	return c.checkControl()
}

// checkControl reports control endpoints that lack a file, and what is of no use without them.
func (c Config) checkControl() error {
	files := []struct{ name, path string }{
		{"control-cert-file", c.ControlCertFile}, {"control-key-file", c.ControlKeyFile}, {"control-ca-file", c.ControlCAFile},
	}
	for _, file := range files {
		if (file.path == "") != (c.ControlListen == "") {
			return &Error{Source: file.name, Reason: "must be set together with control-listen"}
		}
	}
	if bool(c.Pprof) && c.ControlListen == "" {
		return &Error{Source: "pprof", Reason: "needs control-listen: profiles are served at the control endpoints only"}
	}
	return nil
}

// HasControl reports whether the server has control endpoints.
func (c Config) HasControl() bool { return c.ControlListen != "" }

// UsesTLS reports whether the API is served over TLS.
func (c Config) UsesTLS() bool { return c.TLSCertFile != "" }

// Check reports the first of the named settings that no layer sets. The error is an *Error.
func (c Config) Check(names ...string) error {
	return c.check(func(s setting) bool { return slices.Contains(names, s.name) })
}

func (c Config) check(needed func(setting) bool) error {
	for _, s := range settingsOf(&c) {
		if needed(s) && s.field.IsZero() {
			return missing(s)
		}
	}
	return nil
}

func missing(s setting) error {
	ways := []string{flagName(s.name), envName(s.name)}
	if s.secret {
		ways = append(ways, flagName(s.name+fileSuffix))
	}
	return &Error{Source: s.name, Reason: "not set: use " + strings.Join(ways, ", ") + " or the key in the file"}
}
