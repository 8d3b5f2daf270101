package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Condition types of a SocialNetwork. Ready is the summary; each other condition belongs to one stage.
const (
	// ConditionReady is True when every region serves the current generation of the spec and every stage that users
	// depend on has succeeded.
	ConditionReady = "Ready"
	// ConditionKeysReady is True when all keys exist and every region accepts its active server key. It stays True
	// during a rotation, unless that takes more than ten minutes.
	ConditionKeysReady = "KeysReady"
	// ConditionSchemaMigrated is True when the database has the schema that the image needs.
	ConditionSchemaMigrated = "SchemaMigrated"
	// ConditionRegionsAvailable is True when every region serves and all its pods have the newest template. Its reason is
	// Degraded while some pods are not ready.
	ConditionRegionsAvailable = "RegionsAvailable"
	// ConditionEvacuationsApplied is True when every region with evacuateTo is served by another one, and no server works for a
	// region that is not evacuated any more.
	ConditionEvacuationsApplied = "EvacuationsApplied"
	// ConditionModerationApplied is True when every server reports the moderation settings of the spec as those it
	// runs.
	ConditionModerationApplied = "ModerationApplied"
	// ConditionWebhooksApplied is True when every server reports the webhooks and the pre-hook of the spec as those it runs, and no
	// webhook of the spec has failed for ten minutes.
	ConditionWebhooksApplied = "WebhooksApplied"
	// ConditionAlertsApplied is True when the ServiceMonitor, the alert rules and the dashboard that the spec enables
	// are installed.
	ConditionAlertsApplied = "AlertsApplied"
	// ConditionRegionsPinned is True when the database stores the rows of every table where the spec requires. It is
	// Unknown on PostgreSQL.
	ConditionRegionsPinned = "RegionsPinned"
	// ConditionBackupsScheduled is True when the database has the backup schedule of the spec, and no backup is overdue. It is Unknown
	// on PostgreSQL, and True without spec.backup.
	ConditionBackupsScheduled = "BackupsScheduled"
	// ConditionSwept is True when no objects are left of regions and features that the spec no longer names.
	ConditionSwept = "Swept"
	// ConditionPaused is True while spec.paused is true.
	ConditionPaused = "Paused"
	// ConditionReconciling is True while the network is not ready because of work that goes on by itself. ConditionStalled is True
	// while it is not ready for a reason that needs attention. Both have the reason of Ready; programs that understand the
	// conventions of kstatus, such as Flux, read them.
	ConditionReconciling = "Reconciling"
	ConditionStalled     = "Stalled"
)

// Condition types of one region.
const (
	// RegionAvailable is True when at least one pod of the region is ready, so that the region serves. Its reason is
	// Degraded while other pods are not ready.
	RegionAvailable = "Available"
	// RegionUpdated is True when all pods of the region have the newest template.
	RegionUpdated = "Updated"
	// RegionRouted is True when the Gateway of a region with spec.regions[].gateway has accepted its HTTPRoute. Other regions
	// do not have it.
	RegionRouted = "Routed"
	// RegionKeysVerified is True when all servers of the region have confirmed that they accept its newest server key.
	RegionKeysVerified = "KeysVerified"
	// RegionEvacuated is True when the servers of the region that evacuateTo names accept the server keys of this one and do its
	// background work. Regions without evacuateTo do not have it.
	RegionEvacuated = "Evacuated"
	// RegionControlSecured is True when all servers of the region answer control calls, which use mutual TLS.
	RegionControlSecured = "ControlSecured"
)

// AnnotationRotate starts a rotation of the server keys when it is set to a new value.
const AnnotationRotate = "plaza.social/rotate-server-keys"

// AnnotationRotateSigning and AnnotationRotateAPI start a rotation of the signing keys or the API keys when they are set to a new
// value.
const (
	AnnotationRotateSigning = "plaza.social/rotate-signing-keys"
	AnnotationRotateAPI     = "plaza.social/rotate-api-keys"
)

// AnnotationRotateControl starts a rotation of the authority of control calls when it is set to a new value.
const AnnotationRotateControl = "plaza.social/rotate-control-authority"

// Registration of member clusters: the label of the Secrets, the key of the kubeconfig in them, and the annotation that lists
// the namespaces whose networks may use the cluster.
const (
	LabelKubeconfig             = "sigs.k8s.io/multicluster-runtime-kubeconfig"
	KubeconfigKey               = "kubeconfig"
	AnnotationAllowedNamespaces = "plaza.social/allowed-namespaces"
)

// FinalizerClusters is the finalizer of networks with regions in member clusters, whose objects are not garbage-collected.
const FinalizerClusters = "plaza.social/clusters"

// FinalizerKeys is the finalizer of networks whose keys are deleted together with them, and of the Secrets with keys in the operator's
// cluster: one that is deleted goes when the operator has a copy of its keys, and is then restored.
const FinalizerKeys = "plaza.social/keys"

// AnnotationGiveUpKeys replaces the lost keys of a network by new ones. Its value must be the id of the network. It works once for each
// Secret: to replace the same keys again, remove it first.
const AnnotationGiveUpKeys = "plaza.social/give-up-keys"

// AnnotationRevoke has the ids of server keys to revoke immediately, separated by spaces; see spec.serverKeys.revoke.
const AnnotationRevoke = "plaza.social/revoke-server-keys"

// Reason is the reason of a condition or an event. controllers/README.md has a table of all reasons, generated from
// these comments.
type Reason string

// Reasons of several conditions.
const (
	// ReasonAllHolds: the network matches the spec.
	ReasonAllHolds Reason = "AllHolds"
	// ReasonProgressing: work is in progress; wait.
	ReasonProgressing Reason = "Progressing"
	// ReasonApplyFailed: the API server rejected a change or a read; the message has its error. Check quotas, admission
	// policies and the operator's permissions.
	ReasonApplyFailed Reason = "ApplyFailed"
	// ReasonWaitingForKeys: the network has no identity yet, or some of its keys are missing; see KeysReady.
	ReasonWaitingForKeys Reason = "WaitingForKeys"
	// ReasonNotAllowed: the operator was started with --allowed-image-prefixes or --allowed-secret-label, and the spec has an
	// image or a Secret that they do not allow; the message names it. Running pods stay as they are.
	ReasonNotAllowed Reason = "NotAllowed"
	// ReasonClusterUnreachable: the API server of a region's cluster does not respond, or refuses the operator; the message has
	// the error. Nothing in the cluster is changed; its servers keep running, and the other regions are not affected.
	ReasonClusterUnreachable Reason = "ClusterUnreachable"
	// ReasonClusterNotRegistered: no Secret in the operator's namespace registers the cluster that a region names. Create it;
	// see controllers/CLUSTERS.md.
	ReasonClusterNotRegistered Reason = "ClusterNotRegistered"
	// ReasonClusterNotAllowed: the Secret of the cluster does not allow the network's namespace in its annotation
	// plaza.social/allowed-namespaces.
	ReasonClusterNotAllowed Reason = "ClusterNotAllowed"
	// ReasonClusterRefused: the kubeconfig of the cluster is invalid or has an exec plugin, an auth provider or a file path,
	// or its connection is not verified; the message says which.
	ReasonClusterRefused Reason = "ClusterRefused"
	// ReasonDeleting: the network is being deleted; the message names the clusters that still have objects of it.
	ReasonDeleting Reason = "Deleting"
	// ReasonClusterAbandoned: a network was deleted although objects of it may be left in a cluster that was unreachable for
	// too long, or is not registered any more (event). The message has the command that deletes them.
	ReasonClusterAbandoned Reason = "ClusterAbandoned"
	// ReasonPausedBySpec: spec.paused is true; status.pendingChanges lists the changes that wait. Set it to false to
	// apply them.
	ReasonPausedBySpec Reason = "PausedBySpec"
	// ReasonNotPaused: spec.paused is false.
	ReasonNotPaused Reason = "NotPaused"
)

// Reasons of SchemaMigrated.
const (
	// ReasonMigrated: the database has the schema that the image needs.
	ReasonMigrated Reason = "Migrated"
	// ReasonMigrating: a migration is running; regions keep their pods until it has completed.
	ReasonMigrating Reason = "Migrating"
	// ReasonMigrationFailed: the last attempt failed; status.schema has its error, the number of attempts, and the time
	// of the next one. Fix the cause; delete the Job to retry immediately.
	ReasonMigrationFailed Reason = "MigrationFailed"
	// ReasonDatabaseOfAnotherNetwork: the database was migrated for another network; nothing in it was changed. Give each network
	// a database of its own.
	ReasonDatabaseOfAnotherNetwork Reason = "DatabaseOfAnotherNetwork"
	// ReasonSecretMissing: a Secret that the spec names does not exist in the namespace. Create it; the operator
	// continues by itself.
	ReasonSecretMissing Reason = "SecretMissing"
	// ReasonSecretIncomplete: a Secret that the spec names lacks a key, or the URL of a database in a key is not valid; the message
	// names the key and says what is allowed.
	ReasonSecretIncomplete Reason = "SecretIncomplete"
)

// Reasons of RegionsAvailable, of Available and Updated of a region, and of SchemaMigrated while an update may not begin.
const (
	// ReasonServing: all pods are ready.
	ReasonServing Reason = "Serving"
	// ReasonDegraded: the region serves, but some of its pods are not ready, or the database of a home does not respond;
	// the message says why.
	ReasonDegraded Reason = "Degraded"
	// ReasonNotServing: no pod is ready, and neither the pods nor their servers say why. Check the region's pods:
	// kubectl describe pod -l plaza.social/region=….
	ReasonNotServing Reason = "NotServing"
	// ReasonPodCrashing: a container of a pod keeps exiting; the message has its exit code and the last line of its
	// output. Fix what the line names; kubectl logs --previous has more.
	ReasonPodCrashing Reason = "PodCrashing"
	// ReasonPodNotStarted: a pod cannot be scheduled, its image cannot be pulled, or its container cannot be created,
	// for example because a Secret lacks a key; the message says which.
	ReasonPodNotStarted Reason = "PodNotStarted"
	// ReasonDatabaseUnreachable: the servers run but cannot reach the database; the message has its error. Check the
	// database, its address and password in the Secret, and the network between them. Servers recover by themselves.
	ReasonDatabaseUnreachable Reason = "DatabaseUnreachable"
	// ReasonDatabaseOutOfConnections: the database refuses further connections. Raise its limit, or limit the servers
	// with spec.database.maxConnections.
	ReasonDatabaseOutOfConnections Reason = "DatabaseOutOfConnections"
	// ReasonPatchRejected: the podPatch of a region cannot be applied; the message says why. The region keeps its pods.
	// Fix the patch.
	ReasonPatchRejected Reason = "PatchRejected"
	// ReasonServerNotReady: a server runs, but a readiness check fails or it does not respond; the message names it.
	ReasonServerNotReady Reason = "ServerNotReady"
	// ReasonUpToDate: all pods of the region have the newest template.
	ReasonUpToDate Reason = "UpToDate"
	// ReasonWaitingForSchema: the region's pods are created or replaced once the database is migrated; see
	// SchemaMigrated.
	ReasonWaitingForSchema Reason = "WaitingForSchema"
	// ReasonWaitingForRegion: another region is updated first; see spec.rollout.
	ReasonWaitingForRegion Reason = "WaitingForRegion"
	// ReasonErrorRateHigh: too many requests to the pods of a region that was updated fail, so that no further region is updated;
	// the message has the numbers. Return to the earlier image in spec.image, or correct the spec; the update continues when the
	// rate is below spec.rollout.maxErrorPercent.
	ReasonErrorRateHigh Reason = "ErrorRateHigh"
	// ReasonWaitingForWindow: the update begins in the next of spec.maintenanceWindows; the message says when.
	ReasonWaitingForWindow Reason = "WaitingForWindow"
	// ReasonWindowInvalid: spec.maintenanceWindows has an unknown time zone, so that no update begins. Correct it.
	ReasonWindowInvalid Reason = "WindowInvalid"
	// ReasonWaitingForTurn: as many other networks are being updated as --max-concurrent-rollouts of the operator allows; the
	// message names them. A network whose update stopped counts only for networks with the same image, until it is fixed, paused or
	// deleted.
	ReasonWaitingForTurn Reason = "WaitingForTurn"
	// ReasonTemplateDrift: the pod template of a region was edited by hand, or something was added to it, such as a
	// variable or a container; the message names a field. It is restored
	// like any other change of a template, one region after another. Edit the SocialNetwork instead of the Deployment.
	ReasonTemplateDrift Reason = "TemplateDrift"
	// ReasonRolloutStopped: the new pods of a region did not become ready, so no further region is updated. Check the
	// region's pods; the rollout continues once the spec is fixed.
	ReasonRolloutStopped Reason = "RolloutStopped"
)

// Reasons of Routed of a region.
const (
	// ReasonRouteAccepted: the Gateway routes requests to the region.
	ReasonRouteAccepted Reason = "RouteAccepted"
	// ReasonRoutePending: no Gateway has reported on the newest HTTPRoute yet. Check that the Gateway exists, and that its
	// class has a controller.
	ReasonRoutePending Reason = "RoutePending"
	// ReasonRouteRefused: the Gateway does not accept the HTTPRoute, or does not find what it refers to; the message has its
	// reason. Check that a listener of the Gateway allows routes of the namespace and the host.
	ReasonRouteRefused Reason = "RouteRefused"
)

// Reasons of EvacuationsApplied, and of Evacuated of a region.
const (
	// ReasonNoEvacuation: no region is evacuated.
	ReasonNoEvacuation Reason = "NoEvacuation"
	// ReasonEvacuated: another region serves the region's clients and does its background work. To end it, remove evacuateTo;
	// see controllers/EVACUATION.md.
	ReasonEvacuated Reason = "Evacuated"
	// ReasonEvacuationStarting: not every server of the other region has read which region it serves as well; wait about a minute.
	ReasonEvacuationStarting Reason = "EvacuationStarting"
	// ReasonEvacuationEnding: servers still do the background work of a region that is not evacuated any more, which does no harm;
	// wait about a minute.
	ReasonEvacuationEnding Reason = "EvacuationEnding"
	// ReasonEvacuationKeysUnknown: the server keys of the region cannot be read, and the operator has no record of them; the
	// message says why. The other region serves the hosts, but requests with these keys fail.
	ReasonEvacuationKeysUnknown Reason = "EvacuationKeysUnknown"
)

// Reasons of AlertsApplied.
const (
	// ReasonInstalled: everything that spec.monitoring enables is installed.
	ReasonInstalled Reason = "Installed"
	// ReasonCRDMissing: the cluster lacks a CRD of the Prometheus operator. Everything else works, and the objects are
	// created when the CRD is installed.
	ReasonCRDMissing Reason = "CRDMissing"
	// ReasonAlertsDisabled: spec.monitoring.alerts.enabled is false.
	ReasonAlertsDisabled Reason = "AlertsDisabled"
	// ReasonAlertsInvalid: spec.monitoring.alerts names alerts that do not exist, or thresholds that they do not allow; the message lists
	// them. Everything else is installed.
	ReasonAlertsInvalid Reason = "AlertsInvalid"
)

// Reasons of KeysReady, of KeysVerified of a region, and of events about keys.
const (
	// ReasonKeysVerified: all keys exist, and every server accepts the active server key of its region.
	ReasonKeysVerified Reason = "KeysVerified"
	// ReasonKeyPending: the first server key was created; not every server of its region accepts it yet.
	ReasonKeyPending Reason = "KeyPending"
	// ReasonRotationUnderWay: a new server key was created; not every server of its region accepts it yet. The old key
	// stays valid.
	ReasonRotationUnderWay Reason = "RotationUnderWay"
	// ReasonRotationStuck: servers of a region have not accepted a new server key for ten minutes; the old key stays
	// valid. The message names a pod: check its log, and the status of its keys on the operations port (/statusz).
	ReasonRotationStuck Reason = "RotationStuck"
	// ReasonKeyNotAccepted: servers of a region do not accept the active server key. Check the pod that the message
	// names: it may not have the newest version of the Secret.
	ReasonKeyNotAccepted Reason = "KeyNotAccepted"
	// ReasonNoServers: no server of the region is ready, so none can be asked; see RegionsAvailable.
	ReasonNoServers Reason = "NoServers"
	// ReasonServersSilent: servers are ready but do not answer the operator. Look for a NetworkPolicy between the
	// operator and the ports 9080 (operations) and 9443 (control) of the pods.
	ReasonServersSilent Reason = "ServersSilent"
	// ReasonKeyFileBroken: the key file of a Secret is invalid; the message says where. The operator never overwrites
	// it. Fix the file, or delete the Secret to restore the last valid one.
	ReasonKeyFileBroken Reason = "KeyFileBroken"
	// ReasonKeysMissing: keys of the network were lost, and no copy of them is left in any cluster. Nothing replaces them, because
	// everybody would be signed out, or clients would be refused. Servers keep the keys that they have. The message has the command
	// that restores them, and the one that gives them up; see controllers/KEYS.md.
	ReasonKeysMissing Reason = "KeysMissing"
	// ReasonKeysRestored: lost keys were restored from a copy (event).
	ReasonKeysRestored Reason = "KeysRestored"
	// ReasonIdentityChanged: the Secret with the network's identity is invalid, or belongs to another network. Restore
	// it; running servers are not changed.
	ReasonIdentityChanged Reason = "IdentityChanged"
	// ReasonKeysCreated: keys were created (event).
	ReasonKeysCreated Reason = "KeysCreated"
	// ReasonRotationStarted: a rotation started with a new server key (event).
	ReasonRotationStarted Reason = "RotationStarted"
	// ReasonKeyAdopted: a server key that was added by hand becomes the active one (event).
	ReasonKeyAdopted Reason = "KeyAdopted"
	// ReasonKeyActivated: every server accepts a new server key, which is the active one now (event).
	ReasonKeyActivated Reason = "KeyActivated"
	// ReasonKeyRetiring: an old server key is accepted until the time that the message names (event).
	ReasonKeyRetiring Reason = "KeyRetiring"
	// ReasonKeyRevoked: an old server key has expired, or a key was revoked on request, and was removed (event).
	ReasonKeyRevoked Reason = "KeyRevoked"
)

// Reasons of ControlSecured of a region.
const (
	// ReasonControlSecured: the operator calls all servers with mutual TLS.
	ReasonControlSecured Reason = "ControlSecured"
)

// Reasons of ModerationApplied.
const (
	// ReasonModerationRuns: every server reports the settings of the spec as those it runs.
	ReasonModerationRuns Reason = "ModerationRuns"
	// ReasonModerationPushed: the settings were pushed; not every server reports them yet.
	ReasonModerationPushed Reason = "ModerationPushed"
	// ReasonModerationPushFailed: the settings could not be pushed to a region; the message says why. The operator
	// retries.
	ReasonModerationPushFailed Reason = "ModerationPushFailed"
	// ReasonModerationRefused: the servers rejected the settings; the message has their response. Change
	// spec.moderation: flagLimit may exceed the maximum of the platform's version.
	ReasonModerationRefused Reason = "ModerationRefused"
	// ReasonModerationDrift: the settings had been changed outside the spec and were overwritten (event).
	ReasonModerationDrift Reason = "ModerationDrift"
)

// Reasons of WebhooksApplied.
const (
	// ReasonWebhooksRun: every server reports the webhooks and the pre-hook of the spec as those it runs.
	ReasonWebhooksRun Reason = "WebhooksRun"
	// ReasonNoWebhooks: the spec has neither webhooks nor a pre-hook.
	ReasonNoWebhooks Reason = "NoWebhooks"
	// ReasonWebhooksPushed: the webhooks were pushed; not every server reports them yet.
	ReasonWebhooksPushed Reason = "WebhooksPushed"
	// ReasonWebhooksPushFailed: the webhooks could not be pushed to a region; the message says why. The operator retries.
	ReasonWebhooksPushFailed Reason = "WebhooksPushFailed"
	// ReasonWebhooksRefused: the servers refuse a webhook or the pre-hook; the message says why. The others are applied.
	ReasonWebhooksRefused Reason = "WebhooksRefused"
	// ReasonWebhooksDisabled: an administrator disabled all webhooks by the API, so that no events are sent. To enable them: PUT
	// /api/v3/network-settings/webhook {"webhookEnabled": true}.
	ReasonWebhooksDisabled Reason = "WebhooksDisabled"
	// ReasonDeliveriesFailing: a webhook of the spec has not received events for ten minutes; the message names it and says why.
	// Events are retried for 24 hours. See the runbook of PlazaWebhookFailing.
	ReasonDeliveriesFailing Reason = "DeliveriesFailing"
)

// Reasons of RegionsPinned.
const (
	// ReasonAllTablesPinned: the database stores the rows of every table where the spec requires.
	ReasonAllTablesPinned Reason = "AllTablesPinned"
	// ReasonTablesNotPinned: the message names tables whose rows are stored elsewhere. Run the migration of this
	// version again, and look for changes that were made to the database by hand.
	ReasonTablesNotPinned Reason = "TablesNotPinned"
	// ReasonDatabaseRegionsDiffer: all tables are pinned, but the database has other regions or another survival goal
	// than the spec.
	ReasonDatabaseRegionsDiffer Reason = "DatabaseRegionsDiffer"
	// ReasonPostgreSQLHasNoPlacement: the database is PostgreSQL, which has no regions.
	ReasonPostgreSQLHasNoPlacement Reason = "PostgreSQLHasNoPlacement"
	// ReasonCockroachDBHasNoRegions: the nodes of the database have no localities, so that it stores rows anywhere. Give
	// them localities and create the database again.
	ReasonCockroachDBHasNoRegions Reason = "CockroachDBHasNoRegions"
	// ReasonPlacementNotChecked: no server has checked the database against the placement of the spec yet.
	ReasonPlacementNotChecked Reason = "PlacementNotChecked"
	// ReasonPlacementCheckFailed: the placement could not be read from the database; the message says why.
	ReasonPlacementCheckFailed Reason = "PlacementCheckFailed"
)

// Reasons of BackupsScheduled.
const (
	// ReasonBackupsScheduled: the database has the backup schedule of the spec, and its last backup succeeded, or the first is not
	// due yet.
	ReasonBackupsScheduled Reason = "BackupsScheduled"
	// ReasonNoBackup: spec.backup is not set; the operator schedules no backups.
	ReasonNoBackup Reason = "NoBackup"
	// ReasonBackupsChanging: the schedule is being applied or removed.
	ReasonBackupsChanging Reason = "BackupsChanging"
	// ReasonBackupsNotApplied: the schedule could not be applied, or old backups could not be deleted; the message has the error. The
	// operator tries again every five minutes. Check that the role of migrations has the privilege BACKUP on the database, and the
	// credentials of the buckets.
	ReasonBackupsNotApplied Reason = "BackupsNotApplied"
	// ReasonBackupFailed: the newest backup failed; the message has the database's error. The next one begins as scheduled.
	ReasonBackupFailed Reason = "BackupFailed"
	// ReasonBackupOverdue: no backup has succeeded since the time that the message has. See the runbook of PlazaBackupOverdue.
	ReasonBackupOverdue Reason = "BackupOverdue"
	// ReasonBackupScheduleInvalid: spec.backup.schedule is not a time in cron form, or backups would begin less than an hour apart.
	// Correct it.
	ReasonBackupScheduleInvalid Reason = "BackupScheduleInvalid"
	// ReasonPostgreSQLBackups: the database is PostgreSQL, which has no backup schedules. Use its own means; see
	// controllers/BACKUP.md.
	ReasonPostgreSQLBackups Reason = "PostgreSQLBackups"
)

// Reasons of Swept.
const (
	// ReasonNothingLeft: the network has no objects that the spec does not name.
	ReasonNothingLeft Reason = "NothingLeft"
)

// inProgress are the reasons of a False condition that need no attention.
var inProgress = map[Reason]bool{
	ReasonProgressing: true, ReasonWaitingForKeys: true, ReasonPausedBySpec: true, ReasonNotPaused: true,
	ReasonMigrating: true, ReasonWaitingForSchema: true, ReasonWaitingForRegion: true, ReasonAlertsDisabled: true,
	ReasonCRDMissing: true, ReasonKeyPending: true, ReasonRotationUnderWay: true, ReasonNoServers: true,
	ReasonModerationPushed: true, ReasonDegraded: true, ReasonEvacuationStarting: true, ReasonEvacuationEnding: true,
	ReasonWaitingForWindow: true, ReasonWaitingForTurn: true, ReasonRoutePending: true, ReasonDeleting: true,
	ReasonBackupsChanging: true, ReasonWebhooksPushed: true,
}

// IsUnknown reports whether the reason means that servers could not be asked, so that a condition is Unknown.
func (r Reason) IsUnknown() bool {
	return r == ReasonNoServers || r == ReasonServersSilent || r.IsOfCluster()
}

// Status returns the status of a condition that is not True for a reason.
func (r Reason) Status() metav1.ConditionStatus {
	if r.IsUnknown() {
		return metav1.ConditionUnknown
	}
	return metav1.ConditionFalse
}

// IsOfCluster reports whether the reason means that the cluster of a region cannot be used.
func (r Reason) IsOfCluster() bool {
	return r == ReasonClusterUnreachable || r == ReasonClusterNotRegistered || r == ReasonClusterNotAllowed || r == ReasonClusterRefused
}

// Follows reports whether a condition has this reason only because of another condition, which has the cause.
func (r Reason) Follows() bool {
	return r == ReasonWaitingForKeys || r == ReasonWaitingForSchema || r == ReasonWaitingForRegion || r == ReasonNoServers
}

// NeedsAttention reports whether a user should look at a condition that is False for this reason.
func (r Reason) NeedsAttention() bool { return !inProgress[r] }
