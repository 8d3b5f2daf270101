// Package install tests the installation against a real API server: it applies the manifests of config/, starts the
// program like its Deployment does and as its ServiceAccount, and checks that it has every permission that it needs and
// no other. Its tests have the build tag install.
package install
