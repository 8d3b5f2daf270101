// Package limits holds the time limits of a server that no setting changes. One stall of the machine exceeds them, so that tests
// lift them unless they are about outages.
package limits

import (
	"reflect"
	"time"
)

// Limits are the time limits of a server, each with its value in production.
type Limits struct {
	// BestEffort bounds the reading of related rows. A home that does not answer by then is left out of the response.
	BestEffort time.Duration `production:"1s"`
	// SlowTrip is the duration of a round trip after which its home is checked. It leaves time for the check within BestEffort.
	SlowTrip time.Duration `production:"400ms"`
	// ReadLock is how long a read of CockroachDB keeps its connection while it waits for the lock of a row. It is longer than
	// transactions take.
	ReadLock time.Duration `production:"250ms"`
	// CanceledTrip is how long a call must have waited before its cancellation counts as a failure of the home.
	CanceledTrip time.Duration `production:"1s"`
	// CancelGrace is how long a statement in progress may run on after its caller has gone away. Without it pgx would close the
	// connection, and clients that cancel their requests would make the database start a process for each.
	CancelGrace time.Duration `production:"500ms"`
	// CloseDatabases bounds how long a server that stops waits for its connections to close gracefully.
	CloseDatabases time.Duration `production:"5s"`
	// ReadRoutes bounds the reading of routes from one home before the next one is asked.
	ReadRoutes time.Duration `production:"1s"`
	// MoveLease is how long a server uses its routes without reading them again. Afterwards it refuses to send statements.
	MoveLease time.Duration `production:"10s"`
	// AnnounceLease is how long a server writes without announcing itself again. Others take it for one that has stopped a minute
	// after its last announcement.
	AnnounceLease time.Duration `production:"50s"`
	// HoldMoving is how long a request waits while the rows that it concerns are moving.
	HoldMoving time.Duration `production:"1500ms"`
	// FollowMove bounds how long a move waits until all servers follow it before it lets users write again.
	FollowMove time.Duration `production:"600ms"`
	// LetWrite bounds how long a move tries to let users write again after such an attempt.
	LetWrite time.Duration `production:"2s"`
	// FollowErasure bounds how long an erasure waits until all servers follow it before it waits for a time that suffices without. It
	// is longer than requests take.
	FollowErasure time.Duration `production:"12s"`
	// MoveAtOnce bounds the transaction that moves all rows of a user. More rows move a page at a time.
	MoveAtOnce time.Duration `production:"1s"`

	// DeliverNow bounds how long a request waits for other homes after its transaction was committed.
	DeliverNow time.Duration `production:"400ms"`
	// DeliverNotices bounds the delivery of a group of notices to the trays.
	DeliverNotices time.Duration `production:"10s"`

	// Check bounds a readiness check. It is below the default timeout of Kubernetes probes, one second, so that the response can name
	// the failed check.
	Check time.Duration `production:"800ms"`
	// Announce bounds the announcement of a server at one home.
	Announce time.Duration `production:"2s"`
	// ShareRates bounds an exchange of the usage of rate limits with a home.
	ShareRates time.Duration `production:"2s"`
	// ReleaseWebhooks bounds how long a server that stops gives its webhooks up.
	ReleaseWebhooks time.Duration `production:"3s"`
	// FlushTraces bounds how long a server that stops waits for the collector of traces.
	FlushTraces time.Duration `production:"3s"`

	// ReadHeaders bounds the time in which the headers of a request must arrive.
	ReadHeaders time.Duration `production:"10s"`
	// WriteResponse bounds the time in which a client must read 64 KiB of a response.
	WriteResponse time.Duration `production:"10s"`
	// Admission bounds how long a client waits for the beginning of its stream or connection.
	Admission time.Duration `production:"5s"`
	// Subscribe bounds how long a client by MQTT waits for the subscriptions of a packet, which the rate limit of its user slows down.
	Subscribe time.Duration `production:"30s"`
	// LastEvent bounds how long a connection by MQTT stays open after the end of its session, until its client has the last event.
	LastEvent time.Duration `production:"10s"`
	// WriteStream closes the connection of a client that does not read its stream.
	WriteStream time.Duration `production:"10s"`

	// WebhookAttempt bounds an attempt to deliver an event to a webhook, from the connection to the end of the response.
	WebhookAttempt time.Duration `production:"5s"`
	// PushRequest bounds a request to a provider of push notifications.
	PushRequest time.Duration `production:"10s"`
	// SlowPush is the duration of an attempt to push after which the pushes of its user are paused.
	SlowPush time.Duration `production:"3s"`
	// FetchPage bounds the reading of a page for a link preview, with redirects.
	FetchPage time.Duration `production:"5s"`
	// DeleteFile bounds how long a background worker waits for the storage.
	DeleteFile time.Duration `production:"10s"`
	// AbortUpload bounds the clean-up of a failed upload; the sweep does the rest.
	AbortUpload time.Duration `production:"5s"`
}

// Production returns the limits of servers that users reach.
func Production() Limits {
	return each(func(tag reflect.StructTag) time.Duration {
		limit, err := time.ParseDuration(tag.Get("production"))
		if err != nil {
			panic("limits: " + err.Error()) // the tags are constants
		}
		return limit
	})
}

// Lifted is each of the limits that Lift returns. It is longer than a machine stalls.
const Lifted = time.Minute

// Lift returns limits that only a failure exceeds, for tests.
func Lift() Limits { return each(func(reflect.StructTag) time.Duration { return Lifted }) }

// each returns limits given by their tags.
func each(limit func(tag reflect.StructTag) time.Duration) Limits {
	var l Limits
	for field, value := range reflect.ValueOf(&l).Elem().Fields() {
		value.SetInt(int64(limit(field.Tag)))
	}
	return l
}
