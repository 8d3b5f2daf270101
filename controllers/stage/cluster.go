package stage

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
)

// Cluster is a namespace of a cluster that has objects of a network: the network's own, or one of a member cluster.
type Cluster struct {
	// Name is the name of the member cluster; it is empty for the operator's own.
	Name string
	// Network is the input of rendering the cluster's objects.
	Network render.Network
	// Client writes. Cache reads from the informer cache, which may be slightly out of date; Client does as well.
	Client client.Client
	Cache  client.Reader
	// APIReader reads from the API server: for decisions that a stale copy must not drive, and for what is not cached.
	APIReader client.Reader
	// Servers calls the platform's servers in the cluster.
	Servers platformclient.Servers
	// Kinds are the optional kinds that the cluster has.
	Kinds []schema.GroupVersionKind
	// Reason and Message are why the cluster cannot be used; Reason is empty if it can. Nothing in the cluster is read or
	// written otherwise.
	Reason  v1alpha1.Reason
	Message string
}

// Namespace returns the namespace of the network's objects in the cluster.
func (c *Cluster) Namespace() string { return c.Network.TargetNamespace() }

// IsUsable reports whether the cluster can be read and written.
func (c *Cluster) IsUsable() bool { return c.Reason == "" }

// Where returns where an object of the cluster is, as the end of a sentence: in namespace plaza of cluster eu.
func (c *Cluster) Where() string {
	if c.Name == "" {
		return "in the namespace"
	}
	return "in namespace " + c.Namespace() + " of cluster " + c.Name
}

// List returns the objects of a kind in the namespace that have some labels.
func (c *Cluster) List(
	ctx context.Context, reader client.Reader, kind schema.GroupVersionKind, labels client.MatchingLabels,
) ([]client.Object, error) {
	created, err := c.Client.Scheme().New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, err
	}
	list := created.(client.ObjectList)
	if err := reader.List(ctx, list, client.InNamespace(c.Namespace()), labels); err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(list)
	var objects []client.Object
	for _, item := range items {
		object := item.(client.Object)
		object.GetObjectKind().SetGroupVersionKind(kind)
		objects = append(objects, object)
	}
	return objects, err
}

// ClusterOf returns the cluster of a region, whether or not the spec has the region: then it is the operator's own.
func (p *Pass) ClusterOf(code v1alpha1.RegionCode) *Cluster {
	if region := p.Network.Region(code); region != nil {
		for _, c := range p.Clusters {
			if c.Network.Has(region) {
				return c
			}
		}
	}
	return p.Own()
}

// IsEvacuated reports whether another region serves the clients of a region.
func (p *Pass) IsEvacuated(code v1alpha1.RegionCode) bool {
	region := p.Network.Region(code)
	return region != nil && region.EvacuateTo != ""
}

// Own returns the operator's own cluster.
func (p *Pass) Own() *Cluster { return p.Clusters[0] }

// Primary returns the cluster in which the database is migrated.
func (p *Pass) Primary() *Cluster { return p.ClusterOf(render.MigrationRegion(p.Network).Code) }

// Usable returns the clusters that can be read and written, the operator's own first.
func (p *Pass) Usable() []*Cluster {
	var usable []*Cluster
	for _, c := range p.Clusters {
		if c.IsUsable() {
			usable = append(usable, c)
		}
	}
	return usable
}

// Unreadable returns the first cluster that cannot be read, or nil.
func (p *Pass) Unreadable() *Cluster {
	if i := slices.IndexFunc(p.Clusters, func(c *Cluster) bool { return !c.IsUsable() }); i >= 0 {
		return p.Clusters[i]
	}
	return nil
}

// Unusable returns the first cluster with a region of the spec that cannot be used, or nil. Regions that are evacuated do not count.
func (p *Pass) Unusable() *Cluster {
	for _, c := range p.Clusters {
		if !c.IsUsable() && slices.ContainsFunc(c.Network.Regions(), func(r *v1alpha1.Region) bool { return r.EvacuateTo == "" }) {
			return c
		}
	}
	return nil
}
