package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/plaza-social/plaza/platform/apptest"
)

// Coverage records which rows of the contract the exchanges of a suite exercised.
type Coverage struct {
	contract *Contract

	mu    sync.Mutex
	rows  map[Kind][]*row
	byKey map[string]*row
	wrong map[string]string // values of another type than the contract's, by field
	flags map[string]int64  // flagCount at the last answer, by path
}

// Kind is the kind of a row of the tables.
type Kind string

// The kinds, in the order of the report.
const (
	Operations Kind = "operations"
	Anonymous  Kind = "operations closed to anonymous callers"
	Parameters Kind = "parameters"
	Answers    Kind = "answers"
	Fields     Kind = "fields"
	Errors     Kind = "errors"
	Limits     Kind = "limits"
	States     Kind = "states"
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Operations, Anonymous, Parameters, Answers, Fields, Errors, Limits, States}
}

// row is one thing that the suite must exercise.
type row struct {
	name string
	rest string // the reason why it is always empty
	seen bool
}

// NewCoverage returns an empty coverage.
func NewCoverage(c *Contract) *Coverage {
	v := &Coverage{
		contract: c, rows: map[Kind][]*row{}, byKey: map[string]*row{}, wrong: map[string]string{}, flags: map[string]int64{},
	}
	for _, op := range c.Operations {
		v.expectOperation(op)
	}
	for resource, fields := range c.Resources {
		for name, kind := range fields {
			v.expect(Fields, resource+"."+name, kind.Rest)
		}
	}
	for field, values := range c.States {
		for _, value := range values {
			v.expect(States, field+" "+value, "")
		}
	}
	for _, l := range c.Limits {
		for _, name := range l.rows() {
			v.expect(Limits, name, "")
		}
	}
	return v
}

func (v *Coverage) expectOperation(op *Operation) {
	v.expect(Operations, op.Call, "")
	v.expect(Anonymous, op.Call, "")
	for path, kind := range op.Answer {
		v.expect(Answers, op.Call+" "+path, kind.Rest)
	}
	for _, parameters := range []map[string][]string{op.Query, op.Body} {
		for name, values := range parameters {
			v.expect(Parameters, op.Call+" "+name, "")
			for _, value := range values {
				v.expect(Parameters, op.Call+" "+name+"="+value, "")
			}
		}
	}
	for _, f := range op.Errors {
		v.expect(Errors, op.Call+" "+f.String(), "")
	}
}

func (v *Coverage) expect(kind Kind, name, rest string) {
	r := &row{name: name, rest: rest}
	v.rows[kind] = append(v.rows[kind], r)
	v.byKey[string(kind)+" "+name] = r
}

// see marks a row as exercised. It ignores names that the tables do not have.
func (v *Coverage) see(kind Kind, name string) {
	if r := v.byKey[string(kind)+" "+name]; r != nil {
		r.seen = true
	}
}

// exchange is an exchange with decoded bodies.
type exchange struct {
	apptest.Exchange

	query  url.Values
	sent   any
	answer any
}

// Observe records one exchange. It is safe for concurrent use.
func (v *Coverage) Observe(x apptest.Exchange) {
	if !strings.HasPrefix(x.Path, "/api/") && !strings.HasPrefix(x.Path, "/realtime/") {
		return
	}
	read := exchange{Exchange: x}
	read.query, _ = url.ParseQuery(x.Query)
	_ = json.Unmarshal(x.Request, &read.sent) // nil unless the body is JSON
	_ = json.Unmarshal(x.Body, &read.answer)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, op := range v.contract.Operations {
		method, template, _ := strings.Cut(op.Call, " ")
		if _, ok := match(template, x.Path); ok && method == x.Method {
			v.seeOperation(op, read)
		}
	}
	for _, l := range v.contract.Limits {
		v.seeLimit(l, read)
	}
	if x.Status == http.StatusOK || x.Status == http.StatusCreated {
		v.seeCollections(read.answer)
	}
}

func (v *Coverage) seeOperation(op *Operation, x exchange) {
	if x.Status == http.StatusOK {
		v.seeAnswer(op, x)
		return
	}
	if x.Status == http.StatusUnauthorized && x.Header.Get("Authorization") == "" && x.Header.Get("X-Server-Key") == "" {
		v.see(Anonymous, op.Call)
	}
	for _, f := range op.Errors {
		if f.isShownBy(x) {
			v.see(Errors, op.Call+" "+f.String())
		}
	}
}

func (f Failure) isShownBy(x exchange) bool {
	if f.Body != "" {
		return x.Status == f.Status && string(x.Body) == f.Body
	}
	body, _ := x.answer.(map[string]any)
	_, hasData := body["data"].(map[string]any)
	code, _ := body["code"].(float64)
	return x.Status == f.Status && body["status"] == "error" && int(code) == f.Code && body["message"] == f.Message && (hasData || !f.Data)
}

func (v *Coverage) seeAnswer(op *Operation, x exchange) {
	v.see(Operations, op.Call)
	v.seeParameters(op, x)
	for path, kind := range op.Answer {
		for _, value := range at(x.answer, path) {
			v.seePart(op.Call+" "+path, kind, value)
		}
	}
}

// seePart records one part of an answer: a simple value, a resource, or a list of resources.
func (v *Coverage) seePart(name string, kind Type, value any) {
	resource, isList := strings.CutSuffix(kind.Name, "[]")
	if v.contract.Resources[resource] == nil {
		v.seeValue(Answers, name, kind, value)
		return
	}
	list := []any{value}
	if isList {
		list, _ = value.([]any)
	}
	for _, element := range list {
		v.see(Answers, name)
		v.seeResource(resource, element)
	}
}

func (v *Coverage) seeParameters(op *Operation, x exchange) {
	for name := range op.Query {
		for sent, values := range x.query {
			plain, _, _ := strings.Cut(sent, "[")
			for _, value := range values {
				if plain == name {
					v.see(Parameters, op.Call+" "+name)
					v.see(Parameters, op.Call+" "+name+"="+value)
				}
			}
		}
	}
	for name := range op.Body {
		if value, ok := field(x.sent, name); ok {
			v.see(Parameters, op.Call+" "+name)
			v.see(Parameters, fmt.Sprint(op.Call, " ", name, "=", value))
		}
	}
}

// seeCollections finds the collections of resources in an answer.
func (v *Coverage) seeCollections(answer any) {
	switch answer := answer.(type) {
	case []any: // uploaded files are a bare list
		for _, element := range answer {
			if _, isFile := field(element, "fileUrl"); isFile {
				v.seeResource("File", element)
			}
		}
	case map[string]any:
		for name, value := range answer {
			resource := collections[name]
			if resource == "" || name == "postData" {
				v.seeCollections(value)
				continue
			}
			list, _ := value.([]any)
			for _, element := range list {
				v.seeResource(resource, element)
			}
		}
	}
}

// seeResource records every field of one object of a resource.
func (v *Coverage) seeResource(resource string, value any) {
	if _, ok := value.(map[string]any); !ok {
		return // for example names of roles in a list with the name of the role resources
	}
	for name, kind := range v.contract.Resources[resource] {
		for _, found := range at(value, name) {
			v.seeValue(Fields, resource+"."+name, kind, found)
		}
	}
	for key, states := range v.contract.States {
		path, ok := strings.CutPrefix(key, resource+".")
		if !ok {
			continue
		}
		for _, found := range at(value, path) {
			for _, state := range states {
				if fmt.Sprint(found) == state {
					v.see(States, key+" "+state)
				}
			}
		}
	}
	if resource == "ScheduledPost" {
		for _, post := range at(value, "postData") {
			v.seeResource("Post", post)
		}
	}
}

// seeValue records a non-empty value of the right type. null is an absent value.
func (v *Coverage) seeValue(kind Kind, name string, want Type, value any) {
	switch {
	case value == nil:
	case !hasType(want.Name, value):
		v.wrong[name] = fmt.Sprintf("want type %s, not %.100v", want.Name, value)
	case filled(value) || want.Rest != "":
		v.see(kind, name)
	}
}
