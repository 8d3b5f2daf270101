// Package clustertest holds the operator and the platform against a real cluster, with real pods: what no API server alone can
// show. It is built with the tag cluster; hack/cluster/test.sh starts a cluster for it.
package clustertest
