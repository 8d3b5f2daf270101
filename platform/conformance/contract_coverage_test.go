package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// contractCoverage measures how much of the tables of the service interface the tests exercise on a running server.
// Nothing is declared as covered: it observes the exchanges of the tests and counts a row when an exchange exercises it.
type contractCoverage struct {
	contract *contractTables

	mu    sync.Mutex
	rows  map[rowKind][]*contractRow
	byKey map[string]*contractRow
	wrong map[string]string // values of another type than the contract's, by field
	flags map[string]int64  // flagCount at the last answer, by path
}

// rowKind is the kind of a row of the tables.
type rowKind string

// The kinds, in the order of the report.
const (
	kindOperations rowKind = "operations"
	kindAnonymous  rowKind = "operations closed to anonymous callers"
	kindParameters rowKind = "parameters"
	kindAnswers    rowKind = "answers"
	kindFields     rowKind = "fields"
	kindErrors     rowKind = "errors"
	kindLimits     rowKind = "limits"
	kindStates     rowKind = "states"
)

// rowKinds returns all kinds.
func rowKinds() []rowKind {
	return []rowKind{kindOperations, kindAnonymous, kindParameters, kindAnswers, kindFields, kindErrors, kindLimits, kindStates}
}

// contractRow is one thing that the suite must exercise.
type contractRow struct {
	name string
	rest string // the reason why it is always empty
	seen bool
}

// newContractCoverage returns an empty coverage.
func newContractCoverage(c *contractTables) *contractCoverage {
	v := &contractCoverage{
		contract: c, rows: map[rowKind][]*contractRow{}, byKey: map[string]*contractRow{}, wrong: map[string]string{}, flags: map[string]int64{},
	}
	for _, op := range c.Operations {
		v.expectOperation(op)
	}
	for resource, fields := range c.Resources {
		for name, kind := range fields {
			v.expect(kindFields, resource+"."+name, kind.Rest)
		}
	}
	for field, values := range c.States {
		for _, value := range values {
			v.expect(kindStates, field+" "+value, "")
		}
	}
	for _, l := range c.Limits {
		for _, name := range l.rows() {
			v.expect(kindLimits, name, "")
		}
	}
	return v
}

func (v *contractCoverage) expectOperation(op *contractOperation) {
	v.expect(kindOperations, op.Call, "")
	v.expect(kindAnonymous, op.Call, "")
	for path, kind := range op.Answer {
		v.expect(kindAnswers, op.Call+" "+path, kind.Rest)
	}
	for _, parameters := range []map[string][]string{op.Query, op.Body} {
		for name, values := range parameters {
			v.expect(kindParameters, op.Call+" "+name, "")
			for _, value := range values {
				v.expect(kindParameters, op.Call+" "+name+"="+value, "")
			}
		}
	}
	for _, f := range op.Errors {
		v.expect(kindErrors, op.Call+" "+f.String(), "")
	}
}

func (v *contractCoverage) expect(kind rowKind, name, rest string) {
	r := &contractRow{name: name, rest: rest}
	v.rows[kind] = append(v.rows[kind], r)
	v.byKey[string(kind)+" "+name] = r
}

// see marks a row as exercised. It ignores names that the tables do not have.
func (v *contractCoverage) see(kind rowKind, name string) {
	if r := v.byKey[string(kind)+" "+name]; r != nil {
		r.seen = true
	}
}

// decodedExchange is an exchange with decoded bodies.
type decodedExchange struct {
	exchange

	query  url.Values
	sent   any
	answer any
}

// Observe records one exchange. It is safe for concurrent use.
func (v *contractCoverage) Observe(x exchange) {
	if !strings.HasPrefix(x.Path, "/api/") && !strings.HasPrefix(x.Path, "/realtime/") {
		return
	}
	read := decodedExchange{exchange: x}
	read.query, _ = url.ParseQuery(x.Query)
	_ = json.Unmarshal(x.Request, &read.sent) // nil unless the body is JSON
	_ = json.Unmarshal(x.Body, &read.answer)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, op := range v.contract.Operations {
		method, template, _ := strings.Cut(op.Call, " ")
		if _, ok := matchTemplate(template, x.Path); ok && method == x.Method {
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

func (v *contractCoverage) seeOperation(op *contractOperation, x decodedExchange) {
	if x.Status == http.StatusOK {
		v.seeAnswer(op, x)
		return
	}
	if x.Status == http.StatusUnauthorized && x.Header.Get("Authorization") == "" && x.Header.Get("X-Server-Key") == "" {
		v.see(kindAnonymous, op.Call)
	}
	for _, f := range op.Errors {
		if f.isShownBy(x) {
			v.see(kindErrors, op.Call+" "+f.String())
		}
	}
}

func (f contractError) isShownBy(x decodedExchange) bool {
	if f.Body != "" {
		return x.Status == f.Status && string(x.Body) == f.Body
	}
	body, _ := x.answer.(map[string]any)
	_, hasData := body["data"].(map[string]any)
	code, _ := body["code"].(float64)
	return x.Status == f.Status && body["status"] == "error" && int(code) == f.Code && body["message"] == f.Message && (hasData || !f.Data)
}

func (v *contractCoverage) seeAnswer(op *contractOperation, x decodedExchange) {
	v.see(kindOperations, op.Call)
	v.seeParameters(op, x)
	for path, kind := range op.Answer {
		for _, value := range valuesAt(x.answer, path) {
			v.seePart(op.Call+" "+path, kind, value)
		}
	}
}

// seePart records one part of an answer: a simple value, a resource, or a list of resources.
func (v *contractCoverage) seePart(name string, kind contractType, value any) {
	resource, isList := strings.CutSuffix(kind.Name, "[]")
	if v.contract.Resources[resource] == nil {
		v.seeValue(kindAnswers, name, kind, value)
		return
	}
	list := []any{value}
	if isList {
		list, _ = value.([]any)
	}
	for _, element := range list {
		v.see(kindAnswers, name)
		v.seeResource(resource, element)
	}
}

func (v *contractCoverage) seeParameters(op *contractOperation, x decodedExchange) {
	for name := range op.Query {
		for sent, values := range x.query {
			plain, _, _ := strings.Cut(sent, "[")
			for _, value := range values {
				if plain == name {
					v.see(kindParameters, op.Call+" "+name)
					v.see(kindParameters, op.Call+" "+name+"="+value)
				}
			}
		}
	}
	for name := range op.Body {
		if value, ok := fieldOf(x.sent, name); ok {
			v.see(kindParameters, op.Call+" "+name)
			v.see(kindParameters, fmt.Sprint(op.Call, " ", name, "=", value))
		}
	}
}

// seeCollections finds the collections of resources in an answer.
func (v *contractCoverage) seeCollections(answer any) {
	switch answer := answer.(type) {
	case []any: // uploaded files are a bare list
		for _, element := range answer {
			if _, isFile := fieldOf(element, "fileUrl"); isFile {
				v.seeResource("File", element)
			}
		}
	case map[string]any:
		for name, value := range answer {
			resource := contractCollections[name]
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
func (v *contractCoverage) seeResource(resource string, value any) {
	if _, ok := value.(map[string]any); !ok {
		return // for example names of roles in a list with the name of the role resources
	}
	for name, kind := range v.contract.Resources[resource] {
		for _, found := range valuesAt(value, name) {
			v.seeValue(kindFields, resource+"."+name, kind, found)
		}
	}
	for key, states := range v.contract.States {
		path, ok := strings.CutPrefix(key, resource+".")
		if !ok {
			continue
		}
		for _, found := range valuesAt(value, path) {
			for _, state := range states {
				if fmt.Sprint(found) == state {
					v.see(kindStates, key+" "+state)
				}
			}
		}
	}
	if resource == "ScheduledPost" {
		for _, post := range valuesAt(value, "postData") {
			v.seeResource("Post", post)
		}
	}
}

// seeValue records a non-empty value of the right type. null is an absent value.
func (v *contractCoverage) seeValue(kind rowKind, name string, want contractType, value any) {
	switch {
	case value == nil:
	case !hasType(want.Name, value):
		v.wrong[name] = fmt.Sprintf("want type %s, not %.100v", want.Name, value)
	case isFilled(value) || want.Rest != "":
		v.see(kind, name)
	}
}
