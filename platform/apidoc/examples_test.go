package apidoc_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/plaza-social/plaza/platform/apidoc"
	_ "github.com/plaza-social/plaza/proto/gen/plaza/v1" // registers the requests
)

// TestExamplesPass validates the examples of bodies and paths with the rules of the request messages, including rules that a schema cannot
// express.
func TestExamplesPass(t *testing.T) {
	validator, err := protovalidate.New()
	require.NoError(t, err)
	root := parsed(t, string(apidoc.Document())).(object)
	checked := 0
	for path, verbs := range root["paths"].(object) {
		for verb, each := range verbs.(object) {
			op, _ := each.(object)
			example, has := bodyOf(op)
			rpc, ofService := op["x-rpc"].(string)
			if !has || !ofService {
				continue
			}
			t.Run(verb+" "+path, func(t *testing.T) {
				request := requestOf(t, rpc)
				body := object{}
				maps.Copy(body, example)
				maps.Copy(body, pathOf(op))
				raw, err := json.Marshal(body)
				require.NoError(t, err)
				require.NoError(t, protojson.Unmarshal(raw, request), "%s", raw)
				require.NoError(t, validator.Validate(request), "%s", raw)
				require.NoError(t, namesRoles(rpc, body))
			})
			checked++
		}
	}
	require.Greater(t, checked, 60)
}

// namesRoles checks the one rule that the messages do not contain: either of two fields is required.
func namesRoles(rpc string, body object) error {
	if !strings.HasSuffix(rpc, "MemberRoles") || body["roles"] != nil || body["role"] != nil {
		return nil
	}
	return errNoRoles
}

var errNoRoles = requireError("roles: must name at least one role")

type requireError string

func (e requireError) Error() string { return string(e) }

// bodyOf returns the example of an operation's body.
func bodyOf(op object) (object, bool) {
	request, _ := op["requestBody"].(object)
	content, _ := request["content"].(object)
	form, _ := content["application/json"].(object)
	example, has := form["example"].(object)
	return example, has
}

// pathOf returns the examples of an operation's path parameters.
func pathOf(op object) object {
	values := object{}
	parameters, _ := op["parameters"].([]any)
	for _, each := range parameters {
		parameter, _ := each.(object)
		if parameter["in"] != "path" {
			continue
		}
		name, _ := parameter["name"].(string)
		if example, has := parameter["example"]; has {
			values[name] = example
			continue
		}
		values[name] = "02a4f19c7d3be5608142c97d"
		if schema, _ := parameter["schema"].(object); schema["type"] == "integer" {
			values[name] = 1
		}
	}
	return values
}

// requestOf returns an empty request of a procedure.
func requestOf(t *testing.T, rpc string) proto.Message {
	t.Helper()
	name := strings.ReplaceAll(strings.TrimPrefix(rpc, "/"), "/", ".")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	require.NoError(t, err, rpc)
	method, ok := found.(protoreflect.MethodDescriptor)
	require.True(t, ok, rpc)
	kind, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
	require.NoError(t, err, rpc)
	return kind.New().Interface()
}
