package render_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

const (
	samplesFolder = "../../config/samples"
	specsFolder   = "testdata/specs"
	crdFile       = "../../config/crd/bases/plaza.social_socialnetworks.yaml"
)

// networkOf returns the input of rendering for sn in a cluster with all optional kinds.
func networkOf(sn *v1alpha1.SocialNetwork) render.Network {
	return render.Network{
		SN:                sn,
		NetworkID:         "0123456789abcdef01234567",
		DefaultImage:      "registry.example/plaza:v1.2.3",
		OperatorNamespace: "plaza-system",
		Capabilities:      render.Capabilities{HTTPRoute: true, ServiceMonitor: true},
	}
}

// specs returns the SocialNetworks of the samples and of testdata/specs, by file name.
func specs(t *testing.T) map[string]*v1alpha1.SocialNetwork {
	t.Helper()
	crd := readCRD(t)
	all := map[string]*v1alpha1.SocialNetwork{}
	for _, folder := range []string{samplesFolder, specsFolder} {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		require.NoError(t, err)
		require.NotEmpty(t, files, folder)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if bytes.Contains(text, []byte("kind: "+v1alpha1.Kind+"\n")) {
				all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = crd.admit(t, text)
			}
		}
	}
	return all
}

// spec returns one of them.
func spec(t *testing.T, name string) *v1alpha1.SocialNetwork {
	t.Helper()
	sn, ok := specs(t)[name]
	require.True(t, ok, name)
	return sn
}

// crd validates a manifest like the API server: it rejects unknown fields, sets the defaults, and checks the schema and
// its rules.
type crd struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

func readCRD(t *testing.T) crd {
	t.Helper()
	text, err := os.ReadFile(crdFile)
	require.NoError(t, err)
	var def apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.UnmarshalStrict(text, &def))
	var props apiextensions.JSONSchemaProps
	require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		def.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil))
	structural, err := structuralschema.NewStructural(&props)
	require.NoError(t, err)
	schema, _, err := validation.NewSchemaValidator(&props)
	require.NoError(t, err)
	return crd{structural, schema, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

func (c crd) admit(t *testing.T, manifest []byte) *v1alpha1.SocialNetwork {
	t.Helper()
	var object map[string]any
	text, err := yaml.YAMLToJSONStrict(manifest)
	require.NoError(t, err)
	require.NoError(t, utiljson.Unmarshal(text, &object)) // integers as int64, which rules compare
	metadata := object["metadata"]
	unknown := pruning.PruneWithOptions(object, c.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	require.Empty(t, unknown, "fields that the CRD does not have")
	object["metadata"] = metadata
	defaulting.Default(object, c.structural)
	require.Empty(t, validation.ValidateCustomResource(nil, object, c.schema))
	errs, _ := c.rules.Validate(t.Context(), nil, c.structural, object, nil, math.MaxInt64)
	require.Empty(t, errs)

	text, err = json.Marshal(object)
	require.NoError(t, err)
	var sn v1alpha1.SocialNetwork
	require.NoError(t, json.Unmarshal(text, &sn))
	if sn.Namespace == "" {
		sn.Namespace = "default"
	}
	sn.UID = types.UID("11111111-2222-3333-4444-555555555555")
	return &sn
}
