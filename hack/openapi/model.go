package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// document is the subset of OpenAPI 3.1 that we use. Handwritten parts are included unchanged.
type document struct {
	OpenAPI    string                    `json:"openapi"`
	Info       any                       `json:"info"`
	Servers    any                       `json:"servers"`
	Tags       []tag                     `json:"tags"`
	Paths      map[string]map[string]any `json:"paths"` // by path and lowercase verb
	Components components                `json:"components"`
}

type tag struct {
	Name        string `json:"name" yaml:"name"`
	Description string `json:"description,omitempty" yaml:"description"`
}

type components struct {
	SecuritySchemes any            `json:"securitySchemes"`
	Headers         any            `json:"headers"`
	Responses       map[string]any `json:"responses"`
	Schemas         map[string]any `json:"schemas"`
}

type operation struct {
	Tags        []string              `json:"tags"`
	OperationID string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Deprecated  bool                  `json:"deprecated,omitempty"`
	Security    []map[string][]string `json:"security"`
	Parameters  []parameter           `json:"parameters,omitempty"`
	RequestBody *requestBody          `json:"requestBody,omitempty"`
	Responses   map[string]any        `json:"responses"`
	RPC         string                `json:"x-rpc"` // name of the operation over Connect, gRPC and gRPC-Web
}

type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Required    bool    `json:"required,omitempty"`
	Description string  `json:"description,omitempty"`
	Schema      *schema `json:"schema"`
}

type requestBody struct {
	Required bool                 `json:"required,omitempty"`
	Content  map[string]mediaType `json:"content"`
}

type mediaType struct {
	Schema   any `json:"schema"`
	Example  any `json:"example,omitempty"`
	Examples any `json:"examples,omitempty"`
}

type response struct {
	Description string               `json:"description"`
	Headers     map[string]any       `json:"headers,omitempty"`
	Content     map[string]mediaType `json:"content,omitempty"`
}

// schema is the subset of JSON Schema that we use.
type schema struct {
	Ref                  string     `json:"$ref,omitempty"`
	Type                 string     `json:"type,omitempty"`
	Format               string     `json:"format,omitempty"`
	Description          string     `json:"description,omitempty"`
	Deprecated           bool       `json:"deprecated,omitempty"`
	Enum                 []any      `json:"enum,omitempty"`
	Pattern              string     `json:"pattern,omitempty"`
	MinLength            any        `json:"minLength,omitempty"`
	MaxLength            any        `json:"maxLength,omitempty"`
	Minimum              any        `json:"minimum,omitempty"`
	Maximum              any        `json:"maximum,omitempty"`
	MinItems             any        `json:"minItems,omitempty"`
	MaxItems             any        `json:"maxItems,omitempty"`
	Items                *schema    `json:"items,omitempty"`
	Required             []string   `json:"required,omitempty"`
	Properties           properties `json:"properties,omitempty"`
	AdditionalProperties any        `json:"additionalProperties,omitempty"`
	AnyOf                []*schema  `json:"anyOf,omitempty"`
	Examples             []any      `json:"examples,omitempty"`
}

// properties are encoded in the order of the proto file.
type properties []property

type property struct {
	name   string
	schema *schema
}

// MarshalJSON encodes p as an object.
func (p properties) MarshalJSON() ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	buffer.WriteByte('{')
	for i, each := range p {
		if i > 0 {
			buffer.WriteByte(',')
		}
		if err := encoder.Encode(each.name); err != nil {
			return nil, err
		}
		buffer.WriteByte(':')
		if err := encoder.Encode(each.schema); err != nil {
			return nil, err
		}
	}
	buffer.WriteByte('}')
	return buffer.Bytes(), nil
}

func ref(name string) *schema { return &schema{Ref: "#/components/schemas/" + name} }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
