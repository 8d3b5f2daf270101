// Package defence names defences against hostile clients which the tests of package hostile switch off, to see that its attacks do harm
// without them. Defences that are settings, such as rate limits, have no name here: the tests change the setting.
//
// They can be switched off only in programs that are built with the tag hostile. In all others Off is constant false,
// and the compiler omits the code that it guards.
package defence

// Name is the name of a defence.
type Name string

// The defences.
const (
	WriteDeadline    Name = "write-deadline"     // a response that its client does not read ends
	ObjectSize       Name = "object-size"        // free-form objects have a maximum size
	CancelGrace      Name = "cancel-grace"       // a canceled statement does not close its connection to the database
	StreamsPerUser   Name = "streams-per-user"   // a user has a maximum number of event streams and connections by MQTT
	RawObjects       Name = "raw-objects"        // free-form objects are answered as the bytes of the row
	PostHeads        Name = "post-heads"         // the check of who may see posts does not read their content
	UploadQuota      Name = "upload-quota"       // bytes of uploads in progress count towards the quota of the user
	UploadRemoval    Name = "upload-removal"     // the bytes of a refused upload are removed at once
	SubscriptionRate Name = "subscription-rate"  // subscriptions by MQTT count as requests of the user
	ReplayRate       Name = "replay-rate"        // the missed events of a stream that resumes count as requests of the user
	StoredAnswers    Name = "stored-answers"     // the bytes of answers that are stored for a user's idempotency keys are limited
	UnusedCounters   Name = "unused-counters"    // counts of reaction names without reactions are deleted
	HiddenUsers      Name = "hidden-users"       // a request reads a limited number of the users who block its caller
	ListWindows      Name = "list-windows"       // a list with a filter that has no index reads a limited number of rows
	ErasureBatches   Name = "erasure-batches"    // an erasure reads all tables of a home in one round trip
	SharedRateLimits Name = "shared-rate-limits" // servers share the usage of rate limits
	HeldRequests     Name = "held-requests"      // requests wait while the rows that they concern move to another home
)

// All returns all defences.
func All() []Name {
	return []Name{
		WriteDeadline, ObjectSize, CancelGrace, StreamsPerUser, RawObjects, PostHeads, UploadQuota, UploadRemoval, SubscriptionRate, ReplayRate,
		StoredAnswers, UnusedCounters, HiddenUsers, ListWindows, ErasureBatches, SharedRateLimits, HeldRequests,
	}
}
