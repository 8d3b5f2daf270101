package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// fileSuffix is the suffix of settings that read a secret from a file.
const fileSuffix = "-file"

// setting is a field of Config and its tags.
type setting struct {
	name     string
	def      string
	help     string
	secret   bool // has a …-file variant
	required bool // by `plaza serve`
	field    reflect.Value
}

func settingsOf(c *Config) []setting {
	v := reflect.ValueOf(c).Elem()
	settings := make([]setting, 0, v.NumField())
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		settings = append(settings, setting{
			name:     tag.Get("name"),
			def:      tag.Get("default"),
			help:     tag.Get("help"),
			required: tag.Get("serve") == "required",
			secret:   isSecret(v.Field(i)),
			field:    v.Field(i),
		})
	}
	return settings
}

func isSecret(field reflect.Value) bool {
	switch field.Interface().(type) {
	case telemetry.Secret, dburl.URL:
		return true
	default:
		return false
	}
}

// trim returns text without white space at its ends, such as the newline at the end of a value of a Secret. The directory key must
// never change, so that its white space is kept.
func (s setting) trim(text string) string {
	if s.name == "directory-key" {
		return text
	}
	return strings.TrimSpace(text)
}

// set parses text into the field. An empty text clears fields of every type, because layers use it for "not set".
func (s setting) set(text string) error {
	if text == "" && s.def == "" {
		s.field.SetZero()
		return nil
	}
	switch target := s.field.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return target.UnmarshalText([]byte(text))
	case *region.Code:
		code, err := region.Parse(text)
		*target = code
		return err
	case *string:
		*target = text
		return nil
	default:
		panic(fmt.Sprintf("config: field %s has type %T, which has no text form", s.name, target))
	}
}

// String returns the value as it would be written in the file, with secrets redacted.
func (s setting) String() string {
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](s.field); ok {
		text, err := m.MarshalText()
		if err != nil {
			panic("config: " + s.name + ": " + err.Error()) // never fails for the types of this package
		}
		return string(text)
	}
	return fmt.Sprint(s.field.Interface())
}

func flagName(name string) string { return "--" + name }

func envName(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
