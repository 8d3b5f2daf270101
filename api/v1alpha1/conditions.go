package v1alpha1

// Types of the conditions of a SocialNetwork. Ready sums up; the others speak of one stage each.
const (
	// ConditionReady is True when every region serves the spec's generation and every stage that users depend on holds.
	ConditionReady = "Ready"
	// ConditionKeysReady is True when every key exists, and every region accepts its active server key; also while a newer one is
	// being introduced, unless that takes more than ten minutes.
	ConditionKeysReady = "KeysReady"
	// ConditionSchemaMigrated is True when the database has the schema that the image needs.
	ConditionSchemaMigrated = "SchemaMigrated"
	// ConditionRegionsAvailable is True when every region has its pods, of the newest template, ready.
	ConditionRegionsAvailable = "RegionsAvailable"
	// ConditionModerationApplied is True when every region's servers report the spec's moderation settings as the ones they run.
	ConditionModerationApplied = "ModerationApplied"
	// ConditionAlertsApplied is True when the ServiceMonitor, the alerts and the dashboard that the spec asks for are in place.
	ConditionAlertsApplied = "AlertsApplied"
	// ConditionRegionsPinned is True when the database keeps every table's rows where the spec says; Unknown on PostgreSQL.
	ConditionRegionsPinned = "RegionsPinned"
	// ConditionSwept is True when nothing is left of regions and features that the spec no longer names.
	ConditionSwept = "Swept"
	// ConditionPaused is True while spec.paused is.
	ConditionPaused = "Paused"
)

// Types of the conditions of one region.
const (
	// RegionAvailable is True when the region's pods are ready and answer.
	RegionAvailable = "Available"
	// RegionUpdated is True when every pod of the region is of the newest template.
	RegionUpdated = "Updated"
	// RegionKeysVerified is True when the region accepted its newest server key over HTTP.
	RegionKeysVerified = "KeysVerified"
)

// AnnotationRotate asks for a rotation of the server keys now: set it to any new value.
const AnnotationRotate = "plaza.social/rotate-server-keys"

// Reason is why a condition stands as it does. README.md has the table of all of them, made from these comments.
type Reason string

// Reasons of several conditions.
const (
	// ReasonAllHolds: everything that the spec asks for is true.
	ReasonAllHolds Reason = "AllHolds"
	// ReasonProgressing: work goes on; nothing to do but wait.
	ReasonProgressing Reason = "Progressing"
	// ReasonApplyFailed: the API server refused one of the network's objects; the message has its words. Look for a quota, an
	// admission policy, or missing permissions of the operator.
	ReasonApplyFailed Reason = "ApplyFailed"
	// ReasonWaitingForKeys: the network has no identity yet; see KeysReady.
	ReasonWaitingForKeys Reason = "WaitingForKeys"
	// ReasonPausedBySpec: spec.paused is true; status.pendingChanges lists what waits. Set it to false to go on.
	ReasonPausedBySpec Reason = "PausedBySpec"
	// ReasonNotPaused: spec.paused is false.
	ReasonNotPaused Reason = "NotPaused"
)

// Reasons of SchemaMigrated.
const (
	// ReasonMigrated: the database has the schema that the image needs.
	ReasonMigrated Reason = "Migrated"
	// ReasonMigrating: a migration runs; regions keep their pods until it is done.
	ReasonMigrating Reason = "Migrating"
	// ReasonMigrationFailed: the last attempt failed; status.schema has its error, the number of attempts, and when the next
	// one starts. Mend what the error names; deleting the Job starts the next attempt at once.
	ReasonMigrationFailed Reason = "MigrationFailed"
	// ReasonSecretMissing: a Secret that the spec names is not in the namespace. Make it; the network goes on by itself.
	ReasonSecretMissing Reason = "SecretMissing"
	// ReasonSecretIncomplete: a Secret that the spec names lacks a key; the message names it.
	ReasonSecretIncomplete Reason = "SecretIncomplete"
)

// Reasons of RegionsAvailable, and of Available and Updated of a region.
const (
	// ReasonServing: enough pods are ready.
	ReasonServing Reason = "Serving"
	// ReasonNotServing: too few pods are ready. Look at the region's pods: kubectl describe pod -l plaza.social/region=….
	ReasonNotServing Reason = "NotServing"
	// ReasonUpToDate: every pod of the region is of the newest template.
	ReasonUpToDate Reason = "UpToDate"
	// ReasonWaitingForSchema: the region's pods are made, or renewed, once the database is migrated; see SchemaMigrated.
	ReasonWaitingForSchema Reason = "WaitingForSchema"
	// ReasonWaitingForRegion: the region is renewed after another one; see spec.rollout.
	ReasonWaitingForRegion Reason = "WaitingForRegion"
	// ReasonTemplateDrift: somebody changed the template of a region's pods by hand; the message names a field. It is put back as any
	// other change of a template is made, one region after another; change the SocialNetwork in place of the Deployment.
	ReasonTemplateDrift Reason = "TemplateDrift"
	// ReasonRolloutStopped: the newest pods of a region did not become ready, so no further region is renewed. Look at the
	// region's pods; a spec that mends them goes on by itself.
	ReasonRolloutStopped Reason = "RolloutStopped"
)

// Reasons of AlertsApplied.
const (
	// ReasonInstalled: what spec.monitoring asks for is installed.
	ReasonInstalled Reason = "Installed"
	// ReasonCRDMissing: the cluster lacks a CRD of the Prometheus operator; everything else works, and the objects are made as
	// soon as the CRD is there.
	ReasonCRDMissing Reason = "CRDMissing"
	// ReasonAlertsDisabled: spec.monitoring.alerts.enabled is false.
	ReasonAlertsDisabled Reason = "AlertsDisabled"
)

// Reasons of KeysReady, of KeysVerified of a region, and of events about keys.
const (
	// ReasonKeysVerified: every key exists, and every server accepts its region's active server key.
	ReasonKeysVerified Reason = "KeysVerified"
	// ReasonKeyPending: the first server key was made, and waits for every server of its region to accept it.
	ReasonKeyPending Reason = "KeyPending"
	// ReasonRotationUnderWay: a new server key waits for every server of its region to accept it; the old one is accepted as before.
	ReasonRotationUnderWay Reason = "RotationUnderWay"
	// ReasonRotationStuck: servers of a region have not accepted a new server key for ten minutes; the old one stays in use. The
	// message names a pod: look at its log, and at status of its keys on the operations port (/statusz).
	ReasonRotationStuck Reason = "RotationStuck"
	// ReasonKeyNotAccepted: servers of a region do not accept the server key that is to be used. Look at the pod that the message
	// names: it may not have mounted the newest Secret.
	ReasonKeyNotAccepted Reason = "KeyNotAccepted"
	// ReasonNoServers: no server of the region is ready, so nobody can be asked.
	ReasonNoServers Reason = "NoServers"
	// ReasonServersSilent: servers are ready but do not answer the operator. Look for a NetworkPolicy between the operator and the
	// operations port (9080) of the pods.
	ReasonServersSilent Reason = "ServersSilent"
	// ReasonKeyFileBroken: a Secret's key file is not one; the message says where. The operator never overwrites it. Mend the
	// file, or remove the Secret to have new keys made.
	ReasonKeyFileBroken Reason = "KeyFileBroken"
	// ReasonIdentityMissing: the Secret with the network's identity is gone. Another one would make every user of the database a
	// stranger, so none is made: restore the Secret <network>-identity from a backup.
	ReasonIdentityMissing Reason = "IdentityMissing"
	// ReasonIdentityChanged: the Secret with the network's identity is not the one that the network was made with, or is broken.
	// Restore it; what runs stays as it is.
	ReasonIdentityChanged Reason = "IdentityChanged"
	// ReasonKeysCreated: keys were made (event).
	ReasonKeysCreated Reason = "KeysCreated"
	// ReasonRotationStarted: a new server key was put beside the active one (event).
	ReasonRotationStarted Reason = "RotationStarted"
	// ReasonKeyAdopted: a server key that was put in by hand is to be the active one (event).
	ReasonKeyAdopted Reason = "KeyAdopted"
	// ReasonKeyActivated: every server accepts a new server key, and it is the one to use (event).
	ReasonKeyActivated Reason = "KeyActivated"
	// ReasonKeyRetiring: an old server key is accepted until the time that the message names (event).
	ReasonKeyRetiring Reason = "KeyRetiring"
	// ReasonKeyRevoked: an old server key is over; servers refuse it, and it was removed (event).
	ReasonKeyRevoked Reason = "KeyRevoked"
)

// Reasons of ModerationApplied.
const (
	// ReasonModerationRuns: every server of every region reports the settings of the spec as those it runs.
	ReasonModerationRuns Reason = "ModerationRuns"
	// ReasonModerationPushed: the settings were brought to the servers, and not every one reports them yet.
	ReasonModerationPushed Reason = "ModerationPushed"
	// ReasonModerationPushFailed: the settings could not be brought to a region; the message says why. It is tried again.
	ReasonModerationPushFailed Reason = "ModerationPushFailed"
	// ReasonModerationRefused: the servers refused the settings; the message has their answer. Change spec.moderation: flagLimit may be
	// more than the platform's version takes.
	ReasonModerationRefused Reason = "ModerationRefused"
	// ReasonModerationDrift: somebody changed the settings by other means; the spec's were put back (event).
	ReasonModerationDrift Reason = "ModerationDrift"
)

// Reasons of RegionsPinned.
const (
	// ReasonAllTablesPinned: the database keeps every table's rows where the spec says.
	ReasonAllTablesPinned Reason = "AllTablesPinned"
	// ReasonTablesNotPinned: the message names tables whose rows are elsewhere. Run the migration of this version again, and look
	// for a change made to the database by hand.
	ReasonTablesNotPinned Reason = "TablesNotPinned"
	// ReasonDatabaseRegionsDiffer: every table is pinned, but the database's regions or its survival goal are not those of the spec.
	ReasonDatabaseRegionsDiffer Reason = "DatabaseRegionsDiffer"
	// ReasonPostgreSQLHasNoPlacement: the database is PostgreSQL, which has no regions.
	ReasonPostgreSQLHasNoPlacement Reason = "PostgreSQLHasNoPlacement"
	// ReasonPlacementNotChecked: no server has asked the database about the spec's placement yet.
	ReasonPlacementNotChecked Reason = "PlacementNotChecked"
	// ReasonPlacementCheckFailed: the database could not be asked; the message says why.
	ReasonPlacementCheckFailed Reason = "PlacementCheckFailed"
)

// Reasons of Swept.
const (
	// ReasonNothingLeft: nothing is left of what the spec no longer names.
	ReasonNothingLeft Reason = "NothingLeft"
)

// progress are the reasons of a False condition that need nobody's attention.
var progress = map[Reason]bool{ReasonProgressing: true, ReasonWaitingForKeys: true, ReasonPausedBySpec: true, ReasonNotPaused: true, ReasonMigrating: true, ReasonWaitingForSchema: true, ReasonWaitingForRegion: true, ReasonAlertsDisabled: true, ReasonCRDMissing: true, ReasonKeyPending: true, ReasonRotationUnderWay: true, ReasonNoServers: true, ReasonModerationPushed: true}

// IsTrouble is true for a reason that a person should look at.
func (r Reason) IsTrouble() bool { return !progress[r] }
