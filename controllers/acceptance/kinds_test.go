package acceptance

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// optionalCRDs returns CRDs of the optional kinds, without schemas.
func optionalCRDs() []*apiextensionsv1.CustomResourceDefinition {
	return crdsOf(map[string]schema.GroupVersionKind{
		"servicemonitors":   render.ServiceMonitorKind,
		"prometheusrules":   render.PrometheusRuleKind,
		"probes":            render.ProbeKind,
		"grafanadashboards": render.GrafanaDashboardKind,
		"httproutes":        render.HTTPRouteKind,
	})
}

// crdsOf returns CRDs of kinds, by their plural.
func crdsOf(kinds map[string]schema.GroupVersionKind) []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for plural, kind := range kinds {
		all = append(all, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{
				Name:        plural + "." + kind.Group,
				Annotations: map[string]string{"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api"},
			},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: kind.Group, Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind.Kind, ListKind: kind.Kind + "List"},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: kind.Version, Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
						Type: "object", XPreserveUnknownFields: new(true),
					}},
				}},
			},
		})
	}
	return all
}

// installOnce installs the CRDs of the optional kinds for all parallel tests, which start after the serial ones.
var installOnce = sync.OnceValue(func() error {
	_, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{CRDs: optionalCRDs()})
	return err
})

func installKinds(t *testing.T) {
	t.Helper()
	require.NoError(t, installOnce())
}

// removeKinds removes the CRDs and waits until the API server no longer serves the kinds.
func removeKinds(t *testing.T) {
	t.Helper()
	require.NoError(t, envtest.UninstallCRDs(env.Config, envtest.CRDInstallOptions{CRDs: optionalCRDs()}))
	o := &operator{t: t}
	o.eventually("the kinds to be removed", func() string {
		for _, crd := range optionalCRDs() {
			if client.IgnoreNotFound(env.Client.Get(context.WithoutCancel(t.Context()), client.ObjectKeyFromObject(crd),
				&metav1.PartialObjectMetadata{
					TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
				})) != nil {
				return "the API server does not respond"
			}
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{
				Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name,
				Kind: crd.Spec.Names.ListKind,
			})
			if env.Client.List(context.WithoutCancel(t.Context()), list) == nil {
				return crd.Name + " still exists"
			}
		}
		return ""
	})
}

// TestOptionalKinds installs the CRDs of the Prometheus operator and of the Gateway API while the operator runs, removes them,
// and installs them again. It changes the whole cluster, so it does not run in parallel.
func TestOptionalKinds(t *testing.T) {
	o := newOperator(t)
	o.run()
	t.Cleanup(o.end)
	o.up(everyKind(t))
	missing := o.condition("acme", v1alpha1.ConditionAlertsApplied, "False", v1alpha1.ReasonCRDMissing)
	require.Contains(t, missing.Message, "ServiceMonitor")
	require.Contains(t, missing.Message, "PrometheusRule")
	require.Contains(t, missing.Message, "Probe")
	require.NotContains(t, missing.Message, "Grafana", "the ConfigMap suffices")
	for round := range 2 {
		_, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{CRDs: optionalCRDs()})
		require.NoError(t, err)
		o.condition("acme", v1alpha1.ConditionAlertsApplied, "True", v1alpha1.ReasonInstalled)
		for _, want := range []struct {
			kind schema.GroupVersionKind
			name string
		}{
			{render.ServiceMonitorKind, "acme"},
			{render.PrometheusRuleKind, "acme"},
			{render.ProbeKind, "acme-eu"},
			{render.GrafanaDashboardKind, "acme-dashboard"},
			{render.HTTPRouteKind, "acme-eu"},
		} {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(want.kind)
			o.eventually(want.kind.Kind+" to be created", func() string {
				if !o.exists(object, want.name) {
					return "it does not exist"
				}
				return ""
			})
			require.NoError(t, o.client.Delete(t.Context(), object), "round %d", round)
			require.Len(t, object.GetOwnerReferences(), 1, want.kind.Kind)
			o.eventually(want.kind.Kind+" to be restored", func() string {
				if !o.exists(object, want.name) {
					return "it does not exist"
				}
				return ""
			})
		}
		removeKinds(t)
		o.condition("acme", v1alpha1.ConditionAlertsApplied, "False", v1alpha1.ReasonCRDMissing)
		o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	}
}
