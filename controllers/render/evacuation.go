package render

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// EvacuationFile is the key of EvacuationSecret.
const EvacuationFile = "evacuation.json"

// serving returns the region whose pods serve the clients of a region, as far as they are in the rendered namespace.
func (n Network) serving(r *v1alpha1.Region) v1alpha1.RegionCode {
	if to := n.Region(r.EvacuateTo); to != nil && n.Has(to) {
		return to.Code
	}
	return r.Code
}

// isRoutedElsewhere reports whether another namespace of the same cluster has the routes of a region: two routes of a host would
// contradict each other. In another cluster they do not, and clients that still reach this one may be served.
func (n Network) isRoutedElsewhere(r *v1alpha1.Region) bool {
	to := n.Region(r.EvacuateTo)
	return to != nil && !n.Has(to) && to.Cluster == r.Cluster
}

// StandIns returns the regions of other clusters or namespaces that are evacuated to a region of the rendered one.
func (n Network) StandIns() []*v1alpha1.Region {
	var regions []*v1alpha1.Region
	for i := range n.SN.Spec.Regions {
		r := &n.SN.Spec.Regions[i]
		if to := n.Region(r.EvacuateTo); to != nil && n.Has(to) && !n.Has(r) {
			regions = append(regions, r)
		}
	}
	return regions
}

// StandInObjects returns the objects with which the region that r is evacuated to serves the hosts of r in its own namespace: a
// Service with the name that the region's own has, and an Ingress and an HTTPRoute like those of the other region. The Secret with
// the certificate of an Ingress has the name that r gives it.
func StandInObjects(n Network, r *v1alpha1.Region) []client.Object {
	to, standIn := n.Region(r.EvacuateTo), r.DeepCopy()
	standIn.Ingress, standIn.Gateway = to.Ingress.DeepCopy(), to.Gateway.DeepCopy()
	if standIn.Ingress != nil {
		standIn.Ingress.TLSSecretName = ""
		if r.Ingress != nil {
			standIn.Ingress.TLSSecretName = r.Ingress.TLSSecretName
		}
	}
	return append([]client.Object{Service(n, standIn)}, routes(n, standIn)...)
}
