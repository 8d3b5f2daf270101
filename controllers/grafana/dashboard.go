// Package grafana has the part of the API of the Grafana operator (grafana.integreatly.org/v1beta1) that a network uses. The operator's own
// module would add its client libraries for Grafana.
package grafana

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the version of the API.
var GroupVersion = schema.GroupVersion{Group: "grafana.integreatly.org", Version: "v1beta1"}

// DashboardKind is the kind of Dashboard.
const DashboardKind = "GrafanaDashboard"

// Dashboard is a GrafanaDashboard: it makes the Grafana operator load a dashboard into Grafana instances.
type Dashboard struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec DashboardSpec `json:"spec"`
}

// DashboardSpec selects the Grafana instances and the ConfigMap with the dashboard.
type DashboardSpec struct {
	InstanceSelector          metav1.LabelSelector `json:"instanceSelector"`
	AllowCrossNamespaceImport bool                 `json:"allowCrossNamespaceImport"`
	ConfigMapRef              ConfigMapKey         `json:"configMapRef"`
	Folder                    string               `json:"folder"`
	ResyncPeriod              string               `json:"resyncPeriod"`
}

// ConfigMapKey is a file of a ConfigMap in the same namespace.
type ConfigMapKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// DashboardList is a list of dashboards.
type DashboardList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Dashboard `json:"items"`
}

// AddToScheme registers the kinds.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(GroupVersion.WithKind(DashboardKind), &Dashboard{})
	scheme.AddKnownTypeWithName(GroupVersion.WithKind(DashboardKind+"List"), &DashboardList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// DeepCopyObject implements runtime.Object.
func (d *Dashboard) DeepCopyObject() runtime.Object { return d.deepCopy() }

func (d *Dashboard) deepCopy() *Dashboard {
	out := *d
	out.ObjectMeta = *d.ObjectMeta.DeepCopy()
	out.Spec.InstanceSelector = *d.Spec.InstanceSelector.DeepCopy()
	return &out
}

// DeepCopyObject implements runtime.Object.
func (l *DashboardList) DeepCopyObject() runtime.Object {
	out := *l
	out.ListMeta = *l.ListMeta.DeepCopy()
	out.Items = make([]Dashboard, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].deepCopy()
	}
	return &out
}
