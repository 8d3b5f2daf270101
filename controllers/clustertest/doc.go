// Package clustertest tests the operator and the platform in a real cluster with real pods. It has the build tag
// cluster; hack/cluster/test.sh starts a cluster for it.
package clustertest
