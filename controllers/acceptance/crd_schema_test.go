package acceptance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// crdSchema returns the schema of networks.
func crdSchema(t *testing.T) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "config", "crd", "bases", "plaza.social_socialnetworks.yaml"))
	require.NoError(t, err)
	var crd apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.UnmarshalStrict(text, &crd))
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// walkSchema calls visit for each part of a schema, with its path such as spec.regions[].host.
func walkSchema(path string, schema *apiextensionsv1.JSONSchemaProps, visit func(path string, schema *apiextensionsv1.JSONSchemaProps)) {
	visit(path, schema)
	for name := range schema.Properties {
		property := schema.Properties[name]
		walkSchema(strings.TrimPrefix(path+"."+name, "."), &property, visit)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		walkSchema(path+"[]", schema.Items.Schema, visit)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		walkSchema(path+"{}", schema.AdditionalProperties.Schema, visit)
	}
}

// rule is a validation rule of the CRD.
type rule struct{ path, message string }

func crdRules(t *testing.T) []rule {
	t.Helper()
	var rules []rule
	walkSchema("", crdSchema(t), func(path string, schema *apiextensionsv1.JSONSchemaProps) {
		for _, r := range schema.XValidations {
			require.NotEmpty(t, r.Message, "a rule of %s has no message", path)
			rules = append(rules, rule{path, r.Message})
		}
	})
	return rules
}

// complaint is why the API server refuses an object: the path of a field as in the schema, and the message.
type complaint struct{ path, message string }

var listIndex = regexp.MustCompile(`\[\d+\]`)

// complaintsOf returns why the API server refused an object, or nil if it did not.
func complaintsOf(t *testing.T, err error) []complaint {
	t.Helper()
	if err == nil {
		return nil
	}
	var status *apierrors.StatusError
	require.ErrorAs(t, err, &status)
	require.NotNil(t, status.ErrStatus.Details, "%v", err)
	var all []complaint
	for _, cause := range status.ErrStatus.Details.Causes {
		path := listIndex.ReplaceAllString(cause.Field, "[]")
		if path == "<nil>" { // the whole object
			path = ""
		}
		all = append(all, complaint{path, cause.Message})
	}
	require.NotEmpty(t, all, "%v", err)
	return all
}
