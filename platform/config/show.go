package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Line is a setting and its value as text.
type Line struct {
	Name  string
	Value string
}

// Redacted returns every setting in the order of the struct, with secrets and passwords in URLs redacted.
func (c Config) Redacted() []Line {
	settings := settingsOf(&c)
	lines := make([]Line, len(settings))
	for i, s := range settings {
		lines[i] = Line{Name: s.name, Value: s.String()}
	}
	return lines
}

// RedactedYAML returns the result of Redacted as a YAML file.
func (c Config) RedactedYAML() (string, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, line := range c.Redacted() {
		key, value := &yaml.Node{}, &yaml.Node{}
		key.SetString(line.Name)
		value.SetString(line.Value)
		root.Content = append(root.Content, key, value)
	}
	text, err := yaml.Marshal(root)
	return string(text), err
}

// Markdown returns the table of all settings for README.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| flag and key in the file | environment variable | default | description |\n|---|---|---|---|\n")
	var c Config
	for _, s := range settingsOf(&c) {
		names, vars := "`--"+s.name+"`", "`"+envName(s.name)+"`"
		if s.secret {
			names += ", `--" + s.name + fileSuffix + "`"
			vars += ", `" + envName(s.name+fileSuffix) + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", names, vars, markdownDefault(s), s.help)
	}
	return b.String()
}

func markdownDefault(s setting) string {
	switch {
	case s.def != "":
		return "`" + s.def + "`"
	case s.required:
		return "required"
	default:
		return ""
	}
}
