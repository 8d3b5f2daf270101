package apply

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// maxWords is how many differences a description lists.
	maxWords = 5
	// maxValue is the length of a value in bytes up to which a description shows it.
	maxValue = 120
)

// describe returns the differences between the part of the live object that manager owns and desired, in words: image from a to
// b. It never shows values of Secrets and of environment variables.
func describe(live, desired *unstructured.Unstructured, manager string) []string {
	have, want := map[string]any{}, map[string]any{}
	if owned, ok := fieldsOf(live.GetManagedFields(), manager); ok {
		flatten(ownedPart(owned, live.Object), "", have)
	}
	flatten(ownable(desired.Object), "", want)
	paths := slices.Sorted(maps.Keys(have))
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if _, ok := have[path]; !ok {
			paths = append(paths, path)
		}
	}
	var words []string
	replaced := false
	for _, path := range paths {
		if same(have[path], want[path]) {
			continue
		}
		replaced = replaced || strings.HasPrefix(path, "spec.template.")
		if word := word(desired.GetKind(), path, have[path], want[path]); word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if n := len(words) - maxWords; n > 0 {
		words = append(words[:maxWords], fmt.Sprintf("%d more", n))
	}
	if replaced && desired.GetKind() == "Deployment" {
		words = append(words, "the pods are replaced")
	}
	return words
}

// flatten stores the leaves of a value by their paths. Items of lists are named by their field name, if they have one; other
// lists are leaves.
func flatten(value any, path string, leaves map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		for name, child := range v {
			flatten(child, strings.TrimPrefix(path+"."+name, "."), leaves)
		}
	case []any:
		for _, item := range v {
			if nameOf(item) == "" {
				leaves[path] = v
				return
			}
		}
		for _, item := range v {
			flatten(item, path+"["+nameOf(item)+"]", leaves)
		}
	default:
		leaves[path] = v
	}
}

func nameOf(item any) string {
	fields, _ := item.(map[string]any)
	name, _ := fields["name"].(string)
	return name
}

var (
	envPath     = regexp.MustCompile(`\.env\[([^\]]+)\]`)
	volumePath  = regexp.MustCompile(`\.volumes\[([^\]]+)\]`)
	sidecarPath = regexp.MustCompile(`^spec\.template\.spec\.(?:initC|c)ontainers\[([^\]]+)\]\.name$`)
)

// word describes the difference of one field; it is empty for one that only follows from others.
func word(kind, path string, have, want any) string {
	if path == "metadata.annotations.plaza.social/template" {
		return ""
	}
	if path == "spec.template.metadata.annotations.plaza.social/configuration" {
		return "the configuration file or the content of Secrets"
	}
	if kind == "ConfigMap" && strings.HasPrefix(path, "data.") {
		return settings(have, want)
	}
	if name := envPath.FindStringSubmatch(path); name != nil {
		return "variable " + name[1]
	}
	if name := volumePath.FindStringSubmatch(path); name != nil {
		return "volume " + name[1]
	}
	if name := sidecarPath.FindStringSubmatch(path); name != nil {
		return "container " + name[1]
	}
	short := path
	if i := strings.LastIndex(path, "]."); i >= 0 && strings.HasPrefix(path, "spec.template.") {
		short = path[i+2:]
	}
	short = strings.TrimPrefix(strings.TrimPrefix(short, "spec.template."), "spec.")
	if kind == "Secret" || !isShort(have) || !isShort(want) {
		return short
	}
	switch {
	case have == nil:
		return fmt.Sprintf("%s to %v", short, want)
	case want == nil:
		return fmt.Sprintf("%s from %v to its default", short, have)
	default:
		return fmt.Sprintf("%s from %v to %v", short, have, want)
	}
}

// settings names the settings of a configuration file whose lines differ.
func settings(have, want any) string {
	before, after := lines(have), lines(want)
	var names []string
	for _, line := range slices.Concat(before, after) {
		name, _, _ := strings.Cut(line, ":")
		if slices.Contains(before, line) != slices.Contains(after, line) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return "settings " + strings.Join(names, ", ")
}

func lines(text any) []string {
	content, _ := text.(string)
	return strings.Split(strings.TrimSpace(content), "\n")
}

// isShort reports whether a value is a scalar that can be shown.
func isShort(v any) bool {
	if v == nil {
		return true
	}
	kind := reflect.TypeOf(v).Kind()
	return kind != reflect.Map && kind != reflect.Slice && len(fmt.Sprint(v)) <= maxValue
}
