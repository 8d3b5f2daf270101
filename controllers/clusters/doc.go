// Package clusters connects the operator to the member clusters that Secrets register.
//
// A Secret in the operator's namespace with the label sigs.k8s.io/multicluster-runtime-kubeconfig registers the cluster of its
// name. The format is that of the kubeconfig provider of sigs.k8s.io/multicluster-runtime. Its provider itself is not used:
// it waits without limit for the cache of one cluster before it connects to the next, disconnects a cluster before its new
// kubeconfig works, and does not notice that a cluster is unreachable.
package clusters
