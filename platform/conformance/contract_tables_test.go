package conformance

import (
	"bytes"
	"embed"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed testdata/contract/*.yaml
var contractFiles embed.FS

// contractTables are the tables of the service interface.
type contractTables struct {
	Operations []*contractOperation
	Limits     []*contractLimit
	// Resources are the fields of each resource, by its name.
	Resources map[string]map[string]contractType
	// States are values that occur, by "Resource.field".
	States map[string][]string
}

// contractOperation is one row of the endpoints.
type contractOperation struct {
	Name string
	// Call is the method and the path, with placeholders in braces.
	Call string
	// Query and Body are the parameters with the values that must be sent.
	Query, Body map[string][]string
	// Answer is the types in a successful answer by path; "." is the whole answer.
	Answer map[string]contractType
	Errors []contractError
}

// contractError is one way in which an operation is refused.
type contractError struct {
	Status  int
	Code    int
	Message string
	Body    string // the whole body, if it is not an error object
	Data    bool   // the error object has data, an object
}

func (f contractError) String() string {
	if f.Body != "" {
		return fmt.Sprint(f.Status, " ", f.Body)
	}
	return fmt.Sprint(f.Status, " ", f.Code, " ", f.Message)
}

// contractLimit is one row of the limits.
type contractLimit struct {
	Name string
	Call string
	// Of is the measured property: number, length, bytes of JSON or count of a parameter, the size of a file, or the flags of an object.
	Of string
	// Query, Path or Body is the parameter that is measured; Body is its place in the body.
	Query, Path, Body string
	// When is the required dataType of the body; empty for any.
	When       string
	Edge, Past []int64
	Says       string
	// Apart is the reason why the limit cannot be exercised.
	Apart string
}

// contractType is the JSON type of a value or the name of a resource, followed by [] for an array of them.
type contractType struct {
	Name string
	// Rest is the reason why the value is always empty; empty if a non-empty value must occur.
	Rest string
}

// UnmarshalYAML reads "type" or "type | why it is always empty".
func (t *contractType) UnmarshalYAML(node *yaml.Node) error {
	name, rest, _ := strings.Cut(node.Value, " | ")
	t.Name, t.Rest = name, rest
	return nil
}

// loadContract reads the tables.
func loadContract() (*contractTables, error) {
	c := &contractTables{}
	for name, into := range map[string]any{
		"operations.yaml": &c.Operations, "limits.yaml": &c.Limits, "resources.yaml": &c.Resources, "states.yaml": &c.States,
	} {
		raw, err := contractFiles.ReadFile("testdata/contract/" + name)
		if err != nil {
			return nil, err
		}
		decoder := yaml.NewDecoder(bytes.NewReader(raw))
		decoder.KnownFields(true)
		if err := decoder.Decode(into); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return c, nil
}

// collections are the names under which the answers of all operations contain resources.
var contractCollections = map[string]string{
	"posts": "Post", "postChildren": "Post", "postData": "Post", "comments": "Comment", "commentChildren": "Comment", "users": "User",
	"communityUsers": "CommunityUser", "communities": "Community", "categories": "Category", "roles": "Role", "files": "File",
	"feeds": "Feed", "stories": "Story", "videoStreamings": "VideoStreaming", "videoStreamingChildren": "VideoStreaming",
	"rooms": "Room", "roomChildrens": "Room", "polls": "Poll", "pinTargets": "PinTarget", "pins": "Pin",
	"userMarkers": "UserMarker", "userFeedMarkers": "UserFeedMarker", "userEntityMarkers": "UserEntityMarker",
}

// matchTemplate reports whether a path matches a template such as /a/{b}, and returns the values of the placeholders.
func matchTemplate(template, path string) (map[string]string, bool) {
	want, got := strings.Split(template, "/"), strings.Split(strings.TrimSuffix(path, "/"), "/")
	if len(want) != len(got) {
		return nil, false
	}
	values := map[string]string{}
	for i, part := range want {
		name, isValue := strings.CutPrefix(part, "{")
		switch {
		case isValue:
			values[strings.TrimSuffix(name, "}")] = got[i]
		case part != got[i]:
			return nil, false
		}
	}
	return values, true
}
