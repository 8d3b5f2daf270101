package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fileValue is a value in the file and its line.
type fileValue struct {
	text string
	line int
}

// fileLayer reads the YAML file at path, which source specified: a mapping of setting names to scalars.
func fileLayer(path, source string) (layer, error) {
	f, err := os.Open(path)
	if err != nil {
		return layer{}, &Error{Source: source, Reason: err.Error()}
	}
	defer func() { _ = f.Close() }()
	values, err := parseFile(f)
	var at *lineError
	switch {
	case errors.As(err, &at):
		return layer{}, &Error{Source: fmt.Sprintf("%s:%d", path, at.line), Reason: at.reason}
	case err != nil:
		return layer{}, &Error{Source: path, Reason: oneLine(err.Error())}
	}
	return layer{
		lookup: func(name string) (string, bool) {
			v, ok := values[name]
			return v.text, ok
		},
		source: func(name string) string { return fmt.Sprintf("%s:%d: %s", path, values[name].line, name) },
	}, nil
}

// lineError is an error on one line of the file.
type lineError struct {
	line   int
	reason string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.reason) }

func parseFile(r io.Reader) (map[string]fileValue, error) {
	var doc yaml.Node
	err := yaml.NewDecoder(r).Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil // an empty file is valid
	}
	if err != nil {
		return nil, err
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, &lineError{root.Line, "want settings as \"name: value\" lines"}
	}
	known := knownNames()
	values := make(map[string]fileValue, len(root.Content)/2)
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if err := checkEntry(known, values, key, value); err != nil {
			return nil, err
		}
		if value.Tag != "!!null" {
			values[key.Value] = fileValue{text: value.Value, line: value.Line}
		}
	}
	return values, nil
}

func checkEntry(known map[string]bool, seen map[string]fileValue, key, value *yaml.Node) error {
	_, twice := seen[key.Value]
	switch {
	case !known[key.Value]:
		return &lineError{key.Line, fmt.Sprintf("unknown setting %q", key.Value)}
	case twice:
		return &lineError{key.Line, fmt.Sprintf("duplicate setting %q", key.Value)}
	case value.Kind != yaml.ScalarNode:
		return &lineError{value.Line, key.Value + ": want a scalar value"}
	default:
		return nil
	}
}

func knownNames() map[string]bool {
	var c Config
	names := map[string]bool{}
	for _, s := range settingsOf(&c) {
		names[s.name] = true
		if s.secret {
			names[s.name+fileSuffix] = true
		}
	}
	return names
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
