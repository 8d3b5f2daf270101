package controllers

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/sweep"
)

// Clusters connects to member clusters.
type Clusters interface {
	// Connect returns the connection to a cluster for the networks of a namespace, whose objects are in namespace there, or a
	// *clusters.Error.
	Connect(cluster, from, namespace string) (*clusters.Connection, error)
}

// AddClusters adds the registry of member clusters to the manager. The options need no Config, Scheme, Cache, Kinds and Changed.
func (r *Reconciler) AddClusters(ctx context.Context, mgr ctrl.Manager, options clusters.Options) error {
	options.Config, options.Scheme, options.Cache = mgr.GetConfig(), mgr.GetScheme(), memberCacheOptions
	options.Kinds = append(sweep.Kinds(), corev1.SchemeGroupVersion.WithKind("Pod"))
	options.OptionalKinds, options.DetectedKinds = optionalKinds, detectedKinds
	options.Changed = func(cluster string, object client.Object) { r.clusterChanged(ctx, cluster, object) }
	registry := clusters.New(options)
	r.Clusters = registry
	return mgr.Add(registry)
}

// membersOf returns the namespaces of member clusters that the spec of a network names, in the order of its regions.
func membersOf(sn *v1alpha1.SocialNetwork) []v1alpha1.ClusterNamespace {
	var members []v1alpha1.ClusterNamespace
	for i := range sn.Spec.Regions {
		region := &sn.Spec.Regions[i]
		member := v1alpha1.ClusterNamespace{Name: region.Cluster, Namespace: render.RegionNamespace(sn, region)}
		if region.Cluster != "" && !slices.Contains(members, member) {
			members = append(members, member)
		}
	}
	return members
}

// recordMembers records the member clusters of a network in its status, and sets its finalizers, before anything is created in them.
// It reports whether it wrote something: then the network must be read again.
func (r *Reconciler) recordMembers(ctx context.Context, sn *v1alpha1.SocialNetwork) (bool, error) {
	status := sn.Status.DeepCopy()
	for _, member := range membersOf(sn) {
		if !slices.Contains(status.Clusters, member) {
			status.Clusters = append(status.Clusters, member)
		}
	}
	wanted := map[string]bool{
		v1alpha1.FinalizerClusters: len(status.Clusters) > 0, v1alpha1.FinalizerKeys: sn.Spec.DeletionPolicy == v1alpha1.DeletionDelete,
	}
	if changed, err := r.setFinalizers(ctx, sn, wanted); changed || err != nil {
		return true, err
	}
	if len(status.Clusters) == len(sn.Status.Clusters) {
		return false, nil
	}
	if err := r.writeStatus(ctx, sn, status); !apierrors.IsConflict(err) {
		return true, err
	}
	return true, nil // the next pass reads the network again
}

// connect returns the operator's own cluster or a member cluster for a pass. It returns clusters.ErrPending while a connection is
// being established for the first time.
func (r *Reconciler) connect(sn *v1alpha1.SocialNetwork, member v1alpha1.ClusterNamespace) (*stage.Cluster, error) {
	c := &stage.Cluster{Name: member.Name, Network: render.Network{
		SN: sn, NetworkID: sn.Status.NetworkID, DefaultImage: r.Options.DefaultImage, OperatorNamespace: r.Options.Namespace,
		Cluster: member.Name, Namespace: member.Namespace,
	}}
	if member.Name == "" {
		c.Client, c.Cache, c.APIReader, c.Servers = r.Client, r.Client, r.APIReader, r.Servers
		c.Kinds, c.Network.Capabilities = owned(r.Kinds.List()), capabilities(r.Kinds.List())
		return c, nil
	}
	connection, err := r.Clusters.Connect(member.Name, sn.Namespace, member.Namespace)
	if unusable, ok := errors.AsType[*clusters.Error](err); ok {
		if errors.Is(err, clusters.ErrPending) {
			return nil, err
		}
		c.Reason, c.Message = unusable.Reason, unusable.Message
		return c, nil
	}
	c.Client, c.Cache, c.APIReader = connection.Client, connection.Client, connection.APIReader
	c.Servers = connection.Servers
	c.Kinds, c.Network.Capabilities = owned(connection.Kinds), capabilities(connection.Kinds)
	return c, nil
}

// clusterChanged starts a reconcile of the networks that a change of a member cluster may affect: of the object's, or of all with
// objects in the cluster.
func (r *Reconciler) clusterChanged(ctx context.Context, cluster string, object client.Object) {
	if object != nil {
		name, namespace := object.GetLabels()[render.LabelNetwork], object.GetLabels()[render.LabelOwnerNamespace]
		if name != "" && namespace != "" {
			sn := &v1alpha1.SocialNetwork{}
			sn.Name, sn.Namespace = name, namespace
			r.Kinds.enqueue(ctx, sn)
			return
		}
	}
	var list v1alpha1.SocialNetworkList
	if err := r.Client.List(ctx, &list); err != nil {
		log.FromContext(ctx).Error(err, "listing the networks of a cluster failed", "cluster", cluster)
		return
	}
	inCluster := func(member v1alpha1.ClusterNamespace) bool { return member.Name == cluster }
	for i := range list.Items {
		sn := &list.Items[i]
		if slices.ContainsFunc(sn.Status.Clusters, inCluster) || slices.ContainsFunc(membersOf(sn), inCluster) {
			r.Kinds.enqueue(ctx, sn)
		}
	}
}

var pendingResult = ctrl.Result{RequeueAfter: 5 * staleRequeue}
