package apidoc_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi/datamodel"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apidoc"
)

type object = map[string]any

func parsed(t *testing.T, text string) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	return value
}

// TestDocumentIsOpenAPI31 validates the document against the schema of OpenAPI 3.1 and resolves its references.
func TestDocumentIsOpenAPI31(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	const url = "https://plaza.test/openapi-3.1"
	require.NoError(t, compiler.AddResource(url, parsed(t, datamodel.OpenAPI31SchemaData)))
	format, err := compiler.Compile(url)
	require.NoError(t, err)
	require.NoError(t, format.Validate(parsed(t, string(apidoc.Document()))))
	require.Error(t, format.Validate(parsed(t, `{"openapi": "3.1.0", "info": {"title": "no version"}, "paths": {}}`)))

	document, err := libopenapi.NewDocument(apidoc.Document())
	require.NoError(t, err)
	model, err := document.BuildV3Model()
	require.NoError(t, err)
	require.NotZero(t, model.Model.Paths.PathItems.Len())
}

// TestOperationsAreComplete checks the fields that every operation must have.
func TestOperationsAreComplete(t *testing.T) {
	root := parsed(t, string(apidoc.Document())).(object)
	ids := map[string]bool{}
	for path, verbs := range root["paths"].(object) {
		for verb, each := range verbs.(object) {
			op := each.(object)
			name := verb + " " + path
			id, _ := op["operationId"].(string)
			require.NotEmpty(t, id, name)
			require.False(t, ids[id], "%s: duplicate operationId %s", name, id)
			ids[id] = true
			require.NotEmpty(t, op["summary"], name)
			require.NotEmpty(t, op["description"], name)
			require.NotNil(t, op["security"], name)
			require.GreaterOrEqual(t, len(op["responses"].(object)), 3, name)
			require.Equal(t, strings.Count(path, "{"), countIn(op, "path"), name)
		}
	}
}

func countIn(op object, where string) int {
	n := 0
	parameters, _ := op["parameters"].([]any)
	for _, p := range parameters {
		if p.(object)["in"] == where {
			n++
		}
	}
	return n
}

// TestExamplesFit validates every example against its schema.
func TestExamplesFit(t *testing.T) {
	root := parsed(t, string(apidoc.Document()))
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	const url = "https://plaza.test/openapi.json"
	require.NoError(t, compiler.AddResource(url, root))
	checked := 0
	eachExample(root, "", func(pointer string, example any) {
		schema, err := compiler.Compile(url + "#" + pointer)
		require.NoError(t, err, pointer)
		require.NoError(t, schema.Validate(example), pointer)
		checked++
	})
	require.Greater(t, checked, 500)
}

// eachExample calls do for each example of a schema or media type, with the JSON pointer of its schema.
func eachExample(value any, pointer string, do func(pointer string, example any)) {
	switch v := value.(type) {
	case object:
		schema := pointer + "/schema"
		if example, has := v["example"]; has && v["schema"] != nil {
			do(schema, example)
		}
		switch examples := v["examples"].(type) {
		case []any: // of a schema
			for _, example := range examples {
				do(pointer, example)
			}
		case object: // of a media type
			for _, example := range examples {
				do(schema, example.(object)["value"])
			}
		}
		for name, inner := range v {
			if name != "examples" && name != "example" {
				eachExample(inner, pointer+"/"+escaped.Replace(name), do)
			}
		}
	case []any:
		for i, inner := range v {
			eachExample(inner, pointer+"/"+strconv.Itoa(i), do)
		}
	}
}

var escaped = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")

func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	handler, err := apidoc.New()
	require.NoError(t, err)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	require.True(t, handler.Handles(request.URL.Path))
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

func TestHandlerServesTheDocument(t *testing.T) {
	plain := get(t, apidoc.DocumentPath)
	require.Equal(t, apidoc.Document(), plain.Body.Bytes())
	require.Equal(t, "application/json", plain.Header().Get("Content-Type"))

	packed := get(t, apidoc.DocumentPath, "Accept-Encoding", "br, gzip;q=0.5", "Range", "bytes=0-1")
	require.Equal(t, http.StatusOK, packed.Code)
	reader, err := gzip.NewReader(packed.Body)
	require.NoError(t, err)
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, apidoc.Document(), text)
	require.NotEqual(t, plain.Header().Get("Etag"), packed.Header().Get("Etag"))

	again := get(t, apidoc.DocumentPath, "If-None-Match", plain.Header().Get("Etag"))
	require.Equal(t, http.StatusNotModified, again.Code)
}

// TestPageNamesNoOtherHost checks that the page loads nothing from other hosts and that its policy forbids it.
func TestPageNamesNoOtherHost(t *testing.T) {
	for _, path := range []string{apidoc.PagePath, apidoc.PagePath + "/"} {
		page := get(t, path)
		require.Equal(t, http.StatusOK, page.Code)
		require.NotRegexp(t, `(src|href)="(https?:)?//`, page.Body.String())
		policy := page.Header().Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'")
		require.NotContains(t, policy, "://")
		require.NotContains(t, policy, "*")
		require.NotContains(t, strings.Split(strings.Split(policy, "script-src")[1], ";")[0], "unsafe")
	}
	for _, name := range []string{"swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js", "favicon-32x32.png"} {
		asset := get(t, apidoc.PagePath+"/"+name)
		require.Equal(t, http.StatusOK, asset.Code, name)
	}
	missing := get(t, apidoc.PagePath+"/nothing")
	require.Equal(t, http.StatusNotFound, missing.Code)
}

func TestHandlerHandlesItsOwnAlone(t *testing.T) {
	handler, err := apidoc.New()
	require.NoError(t, err)
	for path, want := range map[string]bool{
		"/openapi.json": true, "/docs": true, "/docs/": true, "/docs/x.css": true,
		"/openapi.json/": false, "/docsearch": false, "/": false, "/api/v3/users": false,
	} {
		require.Equal(t, want, handler.Handles(path), path)
	}
}
