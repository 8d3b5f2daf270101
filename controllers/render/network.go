package render

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Network is the input of rendering.
type Network struct {
	// SN is the SocialNetwork with the defaults of the CRD. It is only read.
	SN *v1alpha1.SocialNetwork
	// NetworkID is the network's id, 24 lowercase hexadecimal characters.
	NetworkID string
	// DefaultImage is the platform's image if the spec does not set one.
	DefaultImage string
	// OperatorNamespace is the namespace of the operator's pods. If it is empty, the operations port is open to the
	// operator's pods in all namespaces.
	OperatorNamespace string
	// SecretsFingerprint changes with the content of the Secrets that pods read as environment variables at startup
	// (database, storage); pods restart when it changes. It must be a keyed hash, because it becomes an annotation that
	// more users can read than the Secrets. If it is empty, changes are ignored.
	SecretsFingerprint string
	// Capabilities are the optional kinds of the cluster.
	Capabilities Capabilities
	// Cluster is the name of the member cluster whose objects are rendered, and Namespace is their namespace. Both are empty for
	// the operator's own cluster, in which the objects are in the network's namespace.
	Cluster, Namespace string
}

// TargetNamespace returns the namespace of the rendered objects.
func (n Network) TargetNamespace() string { return cmp.Or(n.Namespace, n.SN.Namespace) }

// Has reports whether the objects of a region are rendered: it runs in the cluster and the namespace.
func (n Network) Has(r *v1alpha1.Region) bool {
	if n.Cluster == "" {
		return r.Cluster == ""
	}
	return r.Cluster == n.Cluster && RegionNamespace(n.SN, r) == n.Namespace
}

// RegionNamespace returns the namespace of a region's objects.
func RegionNamespace(sn *v1alpha1.SocialNetwork, r *v1alpha1.Region) string {
	return cmp.Or(r.Namespace, sn.Namespace)
}

// Regions returns the regions of the spec whose objects are rendered.
func (n Network) Regions() []*v1alpha1.Region {
	var regions []*v1alpha1.Region
	for i := range n.SN.Spec.Regions {
		if r := &n.SN.Spec.Regions[i]; n.Has(r) {
			regions = append(regions, r)
		}
	}
	return regions
}

// Migrates reports whether the database is migrated in the cluster: that of the primary region.
func (n Network) Migrates() bool { return n.Has(MigrationRegion(n)) }

// Capabilities are the kinds outside Kubernetes itself that the cluster has.
type Capabilities struct {
	HTTPRoute      bool // gateway.networking.k8s.io/v1
	ServiceMonitor bool // monitoring.coreos.com/v1
	PrometheusRule bool // monitoring.coreos.com/v1
	Probe          bool // monitoring.coreos.com/v1

	GrafanaDashboard bool // grafana.integreatly.org/v1beta1

	// SecurityContextConstraints is the kind of OpenShift, which chooses the user of each namespace's pods and rejects others.
	SecurityContextConstraints bool // security.openshift.io/v1
}

// Region returns the region of the spec with this code, or nil.
func (n Network) Region(code v1alpha1.RegionCode) *v1alpha1.Region {
	for i := range n.SN.Spec.Regions {
		if n.SN.Spec.Regions[i].Code == code {
			return &n.SN.Spec.Regions[i]
		}
	}
	return nil
}

// Image returns the platform's image.
func (n Network) Image() string { return cmp.Or(n.SN.Spec.Image, n.DefaultImage) }

// OwnerReference returns a reference that makes the network the controller of an object.
func OwnerReference(sn *v1alpha1.SocialNetwork) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion:         v1alpha1.GroupVersion.String(),
		Kind:               v1alpha1.Kind,
		Name:               sn.Name,
		UID:                sn.UID,
		Controller:         new(true),
		BlockOwnerDeletion: new(true),
	}
}

// meta returns the metadata of an object of the network that belongs to no region.
func (n Network) meta(name string, component Component) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: name, Namespace: n.TargetNamespace(), Labels: Labels(n.SN.Name, component)}
	n.SetOwner(&m)
	return m
}

// SetOwner makes the network the owner of an object: by a reference, so that the object is garbage-collected with the network, or
// in a member cluster, which does not have the network, by labels.
func (n Network) SetOwner(m *metav1.ObjectMeta) {
	if n.Cluster == "" {
		m.OwnerReferences = []metav1.OwnerReference{OwnerReference(n.SN)}
		return
	}
	m.Labels[LabelOwner], m.Labels[LabelOwnerNamespace] = string(n.SN.UID), n.SN.Namespace
}

// regionMeta returns the metadata of an object of a region; they all have the same name.
func (n Network) regionMeta(code v1alpha1.RegionCode) metav1.ObjectMeta {
	m := n.meta(RegionName(n.SN.Name, code), ComponentServer)
	m.Labels[LabelRegion] = string(code)
	return m
}

// MonitoringMeta returns the metadata of an object for Prometheus or Grafana.
func MonitoringMeta(n Network, name string) metav1.ObjectMeta {
	m := n.meta(name, ComponentMonitoring)
	for label, value := range n.SN.Spec.Monitoring.Labels {
		if _, own := m.Labels[label]; !own {
			m.Labels[label] = value
		}
	}
	return m
}
