// Package install holds what people install against a real API server: the manifests of config/ are accepted as they are,
// and the operator's program, started as its Deployment says and as its ServiceAccount, has every right that it needs and
// none beside.
package install
