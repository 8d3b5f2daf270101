// Package monitoring renders the alert rules and the dashboard of a network, and contains the stage that installs them.
//
// # Labels
//
// Every query selects by the labels namespace and network, so that networks never see each other's series.
//
// Metrics of servers have them as target labels: the Prometheus operator sets namespace, and the relabelling of
// render.ServiceMonitor sets network (the SocialNetwork's name) and region. They override the labels network (the
// network's id) and region of the servers' metrics, which are kept as exported_network and exported_region.
//
// Metrics of the operator (plaza_operator_*) describe networks in other namespaces than the operator's pods, so the
// labels namespace, network and region of the metrics must be kept. The operator's ServiceMonitor therefore sets
// honorLabels: true. Without it, or with a Prometheus that sets overrideHonorLabels, the metrics have the operator's
// namespace, and PlazaOperatorNotReconciling fires because they are missing.
//
// Every alert has the labels namespace, network and region, and where it applies home or kind. PlazaRegionDown sets its
// region itself, because no series is left to take it from when the region is down.
package monitoring
