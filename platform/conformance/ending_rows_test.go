package conformance

import "slices"

// endings returns everything that ends at a time. What is new adds its row here.
func endings() []ending {
	return slices.Concat(tokenEndings(), keyEndings(), fileEndings(), contentEndings(), eventEndings(), chatEndings(), workEndings())
}

// otherTimes are the times at which no client sees anything end, with the tests that know them.
var otherTimes = map[string]otherTime{
	"outbox.not_before":             {"work that is due", "events TestBackOff"},
	"pushes.not_before":             {"work that is due", "service/notification TestBackOff"},
	"erasures.due_at":               {"work that is due", "service/erasure TestHomeAway"},
	"user_moves.due_at":             {"work that is due", "service/move TestStates"},
	"backfills.due_at":              {"a table without rows", "store/lifecycle TestEveryTableIsErased"},
	"file_releases.due_at":          {"work that is due", "service/file TestDeleteReleased"},
	"files.unused_since":            {"a file is deleted a while after that", "service/file TestDeleteReleased"},
	"uploads.expires_at":            {"the remains of an upload are removed then", "service/file TestSweep"},
	"audit_events.at":               {"rows are removed a while after it", "service/retention TestSessionsEventsAndAudit"},
	"audit_targets.at":              {"rows are removed a while after it", "service/retention TestSessionsEventsAndAudit"},
	"goose_lock.lease_expires_at":   {"a lease of a migration", "store/db TestMigrateWaitsForAnother"},
	"webhook_cursors.leased_until":  {"a lease of a server", "delivery TestLeases"},
	"webhook_deliveries.at":         {"work that is due", "delivery TestRetriesAndDeadLetters"},
	"webhook_deliveries.expires_at": {"the receiver is given up then", "delivery TestRetriesAndDeadLetters"},
	"story_seen.seen_expires_at":    {"compared with the ends of stories, not with the time", "conformance TestSeenStories"},

	"request-timeout":   {"a limit of one request", "conformance TestStreamsOutliveTheRequestTimeout"},
	"statement-timeout": {"a limit of one statement", "app TestServesAloneWhileOtherRegionsAreAway"},
	"upload-timeout":    {"a limit of one request", "service/file TestSweep"},
	"ranking-age":       {"the age of a cache", "service/community TestTrends"},
	"drain-delay":       {"a phase of the end of a server", "app TestDrainUnderLoad"},
	"shutdown-timeout":  {"a limit of the end of a server", "app TestShutdownTimeout"},

	"timeout":                  {"a limit of one call of the pre-hook", "conformance TestPrehook"},
	"storyExpiryTimeMinutes":   {"the life of new stories", "conformance TestStoryLife"},
	"presenceHeartbeatMinutes": {"the life of new presences", "service/presence TestPresences"},
	"retentionMessageDays":     {"rows are removed then", "service/retention TestMessages"},
	"retentionDeletedDays":     {"rows are removed then", "service/retention TestDeletedRows"},
	"retentionSessionDays":     {"rows are removed then", "service/retention TestSessionsEventsAndAudit"},
	"retentionEventDays":       {"rows are removed then", "service/retention TestSessionsEventsAndAudit"},
	"retentionAuditDays":       {"rows are removed then", "service/retention TestSessionsEventsAndAudit"},
}
