package render

import "github.com/plaza-social/plaza/api/v1alpha1"

// Component is the part of a network that an object belongs to: the value of app.kubernetes.io/component.
type Component string

// The components.
const (
	ComponentServer     Component = "server"
	ComponentMigrate    Component = "migrate"
	ComponentBackup     Component = "backup"
	ComponentKeys       Component = "keys"
	ComponentRecovery   Component = "recovery"
	ComponentMonitoring Component = "monitoring"
)

// Labels and their values. Every object of a network has the first five, except that Secrets with keys do not have LabelInstance;
// objects of one region also have LabelRegion.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelNetwork   = "plaza.social/network"
	LabelRegion    = "plaza.social/region"
	// LabelOwner and LabelOwnerNamespace, on objects in member clusters, are the UID and the namespace of the network.
	LabelOwner          = "plaza.social/owner"
	LabelOwnerNamespace = "plaza.social/owner-namespace"
	// LabelRecoveryOf, on a recovery Secret, is the name of the network. That Secret has none of the other labels of the network, so
	// that deleting the network's objects by a label does not delete it.
	LabelRecoveryOf = "plaza.social/recovery-of"
	// LabelWatched, with the value "true", marks the Secrets that the operator caches.
	LabelWatched = "plaza.social/watched"

	AppName      = "plaza"
	OperatorName = "plaza-operator"
)

// Annotations.
const (
	// AnnotationTemplate, on a Deployment, is the TemplateHash of the template that was applied last.
	AnnotationTemplate = "plaza.social/template"
	// AnnotationConfiguration, on a pod template, is the ConfigurationHash.
	AnnotationConfiguration = "plaza.social/configuration"
	// AnnotationTarget, on a migration's Job, is the full hash of MigrationTarget.
	AnnotationTarget = "plaza.social/migration-target"
	// AnnotationAttempt, on a migration's Job, is the number of the attempt, from 1.
	AnnotationAttempt = "plaza.social/attempt"
)

// ConfigFile is the key of a ConfigMap with the configuration file of a region, and the name of that file.
const ConfigFile = "plaza.yaml"

// Ports of pods and Services.
const (
	PortHTTP        int32 = 8080
	PortOps         int32 = 9080
	PortControl     int32 = 9443
	PortHTTPName          = "http"
	PortOpsName           = "ops"
	PortControlName       = "control"
)

// ContainerName is the name of the container of servers and migrations.
const ContainerName = "plaza"

// RegionName returns the name of a region's Deployment, Service, ServiceAccount, ConfigMap, HorizontalPodAutoscaler,
// PodDisruptionBudget, NetworkPolicy, Ingress and HTTPRoute.
func RegionName(network string, code v1alpha1.RegionCode) string { return network + "-" + string(code) }

// ServerKeysSecret returns the name of the Secret with the server keys that the operator creates for a region.
func ServerKeysSecret(network string, code v1alpha1.RegionCode) string {
	return RegionName(network, code) + "-server-keys"
}

// ControlSecret returns the name of the Secret with the certificate of the control endpoints of a region's servers.
func ControlSecret(network string, code v1alpha1.RegionCode) string {
	return RegionName(network, code) + "-control"
}

// ControlAuthoritySecret returns the name of the Secret with the authorities that issue the certificates of control calls, and the
// operator's own certificate. It exists in the operator's cluster only, and no pod mounts it.
func ControlAuthoritySecret(network string) string { return network + "-control-authority" }

// EvacuationSecret returns the name of the Secret with the regions that are evacuated to a region. It exists while there are some.
func EvacuationSecret(network string, code v1alpha1.RegionCode) string {
	return RegionName(network, code) + "-evacuation"
}

// KeyDigestsSecret returns the name of the Secret with the digests of the server keys of regions in member clusters. It exists in
// the operator's cluster only, for the evacuation of a region whose cluster cannot be reached.
func KeyDigestsSecret(network string) string { return network + "-server-key-digests" }

// SigningKeysSecret returns the name of the Secret with the keys that sign access tokens.
func SigningKeysSecret(network string) string { return network + "-signing-keys" }

// APIKeysSecret returns the name of the Secret with the API keys.
func APIKeysSecret(network string) string { return network + "-api-keys" }

// IdentitySecret returns the name of the Secret with the network's id and directory key, which never change.
func IdentitySecret(network string) string { return network + "-identity" }

// SharedSecrets returns the names of the Secrets with keys that all regions read.
func SharedSecrets(network string) []string {
	return []string{IdentitySecret(network), SigningKeysSecret(network), APIKeysSecret(network)}
}

// RecoverySecret returns the name of the Secret with the operator's own copies of the keys of a network, from which it restores lost
// ones. It exists in the operator's cluster only, and no pod mounts it.
func RecoverySecret(network string) string { return network + "-recovery-keys" }

// MigrationJobName returns the name of the Job for a target returned by MigrationTarget.
func MigrationJobName(network, target string) string {
	return MigrationName(network) + "-" + target[:min(8, len(target))]
}

// MigrationName returns the name of the ServiceAccount of migrations.
func MigrationName(network string) string { return network + "-migrate" }

// BackupJobName returns the name of the Job that schedules backups.
func BackupJobName(network string) string { return network + "-backup" }

// MonitoringName returns the name of the ServiceMonitor and the PrometheusRule.
func MonitoringName(network string) string { return network }

// DashboardName returns the name of the ConfigMap with the dashboard.
func DashboardName(network string) string { return network + "-dashboard" }

// Labels returns the labels of an object of a network.
func Labels(network string, component Component) map[string]string {
	return map[string]string{
		LabelName:      AppName,
		LabelInstance:  network,
		LabelComponent: string(component),
		LabelManagedBy: OperatorName,
		LabelNetwork:   network,
	}
}

// RegionLabels returns the labels of an object of a region.
func RegionLabels(network string, component Component, code v1alpha1.RegionCode) map[string]string {
	labels := Labels(network, component)
	labels[LabelRegion] = string(code)
	return labels
}

// KeyLabels returns the labels of a Secret with keys, of a region or, if the code is empty, of all regions. LabelInstance is missing:
// Argo CD tracks objects by it, and deletes those that an application of that name does not contain.
func KeyLabels(network string, code v1alpha1.RegionCode) map[string]string {
	labels := Labels(network, ComponentKeys)
	delete(labels, LabelInstance)
	labels[LabelWatched] = "true"
	if code != "" {
		labels[LabelRegion] = string(code)
	}
	return labels
}

// RecoveryLabels returns the labels of the recovery Secret of a network; see LabelRecoveryOf.
func RecoveryLabels(network string) map[string]string {
	return map[string]string{
		LabelName: AppName, LabelComponent: string(ComponentRecovery), LabelManagedBy: OperatorName, LabelRecoveryOf: network,
		LabelWatched: "true",
	}
}

// KeepAnnotations returns the annotations of a Secret with keys that tell Argo CD, Flux and Helm not to delete it.
func KeepAnnotations() map[string]string {
	return map[string]string{
		"argocd.argoproj.io/compare-options": "IgnoreExtraneous",
		"argocd.argoproj.io/sync-options":    "Prune=false,Delete=false",
		"kustomize.toolkit.fluxcd.io/prune":  "disabled",
		"helm.sh/resource-policy":            "keep",
	}
}

// ServerSelector returns labels that select the servers of every region of a network, and their Services.
func ServerSelector(network string) map[string]string {
	return map[string]string{
		LabelName:      AppName,
		LabelInstance:  network,
		LabelComponent: string(ComponentServer),
	}
}

// RegionSelector returns labels that select the pods of a region. It is part of the Deployment and must never change.
func RegionSelector(network string, code v1alpha1.RegionCode) map[string]string {
	selector := ServerSelector(network)
	selector[LabelRegion] = string(code)
	return selector
}
