// Package monitoring renders what Prometheus and Grafana get for a network: alerts, and one dashboard over its regions.
//
// # Labels
//
// Everything is selected by two labels, namespace and network, so that networks never see each other's series: neither
// those in other namespaces, nor others in the same.
//
// The metrics of the servers have them as labels of the target: the Prometheus operator sets namespace, the relabelling of
// render.ServiceMonitor sets network (the SocialNetwork's name) and region. They win over the labels network (the network's
// id) and region that servers put on their metrics, which are kept as exported_network and exported_region.
//
// The metrics of the operator (plaza_operator_*) speak of networks that live elsewhere than the operator's own pods: there,
// the labels namespace, network and region on the metrics are the ones meant. So the operator's own ServiceMonitor has to say
// honorLabels: true. Without it, the metrics carry the operator's namespace, and PlazaOperatorNotReconciling tells that they are
// missing. The same goes for a Prometheus whose overrideHonorLabels is true.
//
// An alert keeps namespace, network and region, whatever it is made from, and home or kind where it is about one. The alert
// that a region is down names its region itself: nothing else would, once the last series of it is gone.
package monitoring
