package conformance

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plaza-social/plaza/platform/apidoc"
)

// apiDocument is the API document, with which every answer of every test of this package is compared. It is stricter
// than the document for clients: objects must not have undocumented fields.
type apiDocument struct {
	root      object
	compiler  *jsonschema.Compiler
	templates map[int][]pathTemplate // by the number of segments

	mu       sync.Mutex
	schemas  map[string]*jsonschema.Schema // by JSON pointer
	findings map[string]bool               // undocumented answers
	answered map[string]int                // number of successes, by operation such as "GET /api/v3/users"
	refused  map[string]int                // number of refusals, by operation
}

// apiDoc is loaded with the package, before the first answer.
var apiDoc = newAPIDocument()

func init() { observe(apiDoc.observe) } // before every test, whichever runs

const documentURL = "https://plaza.test/openapi.json"

func newAPIDocument() *apiDocument {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(apidoc.Document()))
	if err != nil {
		panic(err)
	}
	d := &apiDocument{
		schemas: map[string]*jsonschema.Schema{}, findings: map[string]bool{}, answered: map[string]int{},
		refused: map[string]int{},
	}
	d.root, _ = root.(object)
	allowNothingElse(d.at("components", "schemas"))
	d.templates = templatesOf(d.at("paths"))
	d.compiler = jsonschema.NewCompiler()
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(documentURL, root); err != nil {
		panic(err)
	}
	return d
}

// allowNothingElse forbids undocumented fields in schemas and their children.
func allowNothingElse(value any) {
	switch v := value.(type) {
	case object:
		if _, isObject := v["properties"].(object); isObject && v["type"] == "object" && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			allowNothingElse(inner)
		}
	case []any:
		for _, inner := range v {
			allowNothingElse(inner)
		}
	}
}

// at returns the object at a path of names, or nil.
func (d *apiDocument) at(names ...string) object {
	node := d.root
	for _, name := range names {
		node, _ = node[name].(object)
	}
	return node
}

// documented is an operation of the document.
type documented struct {
	verb, path string
	object     object
}

func (o documented) name() string { return o.verb + " " + o.path }

// operations returns all operations, by path and verb.
func (d *apiDocument) operations() []documented {
	var all []documented
	for path, verbs := range d.at("paths") {
		for verb, op := range verbs.(object) {
			all = append(all, documented{strings.ToUpper(verb), path, op.(object)})
		}
	}
	slices.SortFunc(all, func(a, b documented) int { return strings.Compare(a.path+a.verb, b.path+b.verb) })
	return all
}

// pathTemplate is a path of the document, such as /api/v3/users/{userId}.
type pathTemplate struct {
	path     string
	segments []string
}

// templatesOf returns the paths of a document by their number of segments.
func templatesOf(paths object) map[int][]pathTemplate {
	templates := map[int][]pathTemplate{}
	for path := range paths {
		segments := strings.Split(path, "/")
		templates[len(segments)] = append(templates[len(segments)], pathTemplate{path, segments})
	}
	return templates
}

// template returns the path of the document that a request's path matches, or "". A literal segment takes precedence over a
// placeholder.
func (d *apiDocument) template(path string) string {
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	best, bestLiterals := "", -1
	for _, template := range d.templates[len(segments)] {
		if literals := matches(template.segments, segments); literals > bestLiterals {
			best, bestLiterals = template.path, literals
		}
	}
	return best
}

// matches returns the number of literal segments of a template that a path matches, and -1 if it does not match.
func matches(template, segments []string) int {
	literals := 0
	for i, part := range template {
		switch {
		case part == segments[i]:
			literals++
		case !strings.HasPrefix(part, "{"), segments[i] == "":
			return -1
		}
	}
	return literals
}

// observe compares an answer with the document. It ignores requests that are not for an operation.
func (d *apiDocument) observe(x exchange) {
	template := d.template(x.Path)
	op := d.at("paths", template, strings.ToLower(x.Method))
	if template == "" || op == nil || x.Status == http.StatusRequestHeaderFieldsTooLarge { // no handler sees it
		return
	}
	x.Body = decompressed(x.Body)
	if err := d.check(template, x); err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.findings[fmt.Sprintf("%s %s answered %d: %v", x.Method, template, x.Status, err)] = true
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch name := x.Method + " " + template; {
	case x.Status < http.StatusBadRequest:
		d.answered[name]++
	case x.Status < http.StatusInternalServerError:
		d.refused[name]++
	}
}

// decompressed returns a body without the compression that some tests request.
func decompressed(body []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body
	}
	if plain, err := io.ReadAll(reader); err == nil {
		return plain
	}
	return body
}

// check returns nil for a documented answer.
func (d *apiDocument) check(template string, x exchange) error {
	pointer := []string{"paths", template, strings.ToLower(x.Method), "responses", strconv.Itoa(x.Status)}
	found := d.at(pointer...)
	if found == nil {
		return fmt.Errorf("the status is not documented, with %.300s", x.Body)
	}
	if to, isRef := found["$ref"].(string); isRef {
		pointer = strings.Split(strings.TrimPrefix(to, "#/"), "/")
		found = d.at(pointer...)
	}
	if x.Event {
		return d.checkEvent(template, x.Body)
	}
	content, _ := found["content"].(object)
	if json, isJSON := content["application/json"].(object); !isJSON || json["schema"] == nil || x.Body == nil {
		return nil
	}
	return d.validate(x.Body, append(pointer, "content", "application/json", "schema")...)
}

// events are the names of the schemas of realtime events.
var events = map[string]string{
	"/realtime/community.userAdded":     "CommunityUserAddedEvent",
	"/realtime/marker.marker.user-sync": "MarkerUserSyncEvent",
	"/realtime/events":                  "RealtimeEvent",
	"/realtime/{event}":                 "RealtimeEvent",
}

func (d *apiDocument) checkEvent(template string, data []byte) error {
	var control map[string]json.RawMessage
	if json.Unmarshal(data, &control) == nil && (len(control) == 0 || control["reason"] != nil) {
		return nil // reset and end
	}
	return d.validate(data, "components", "schemas", events[template])
}

// validate compares a text with the schema at a path of the document.
func (d *apiDocument) validate(text []byte, pointer ...string) error {
	schema, err := d.schema(pointer)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("no JSON: %.100q", text)
	}
	return schema.Validate(value)
}

func (d *apiDocument) schema(pointer []string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var fragment strings.Builder
	for _, name := range pointer {
		fragment.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name))
	}
	if known := d.schemas[fragment.String()]; known != nil {
		return known, nil
	}
	compiled, err := d.compiler.Compile(documentURL + "#" + fragment.String())
	if err != nil {
		return nil, err
	}
	d.schemas[fragment.String()] = compiled
	return compiled, nil
}

// report prints the undocumented answers and returns the exit code: code, or 1 if there was any.
func (d *apiDocument) report(code int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for finding := range d.findings {
		fmt.Fprintln(os.Stderr, "FAIL: not in the API document:", finding)
		code = max(code, 1)
	}
	return code
}
