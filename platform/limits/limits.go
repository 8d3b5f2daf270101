// Package limits holds the time limits of a server that no setting changes. One stall of the machine exceeds them, so that tests
// lift them unless they are about outages.
package limits

import (
	"reflect"
	"time"
)

// Limits are the time limits of a server.
type Limits struct {
	// BestEffort bounds the reading of related rows. A home that does not answer by then is left out of the response.
	BestEffort time.Duration
	// SlowTrip is the duration of a round trip after which its home is checked. It leaves time for the check within BestEffort.
	SlowTrip time.Duration
	// ReadLock is how long a read of CockroachDB keeps its connection while it waits for the lock of a row. It is longer than
	// transactions take.
	ReadLock time.Duration
	// CanceledTrip is how long a call must have waited before its cancellation counts as a failure of the home.
	CanceledTrip time.Duration
	// CancelGrace is how long a statement in progress may run on after its caller has gone away. Without it pgx would close the
	// connection, and clients that cancel their requests would make the database start a process for each.
	CancelGrace time.Duration
	// CloseDatabases bounds how long a server that stops waits for its connections to close gracefully.
	CloseDatabases time.Duration
	// ReadRoutes bounds the reading of routes from one home before the next one is asked.
	ReadRoutes time.Duration
	// MoveLease is how long a server uses its routes without reading them again. Afterwards it refuses to send statements.
	MoveLease time.Duration
	// AnnounceLease is how long a server writes without announcing itself again. Others take it for one that has stopped a minute
	// after its last announcement.
	AnnounceLease time.Duration
	// HoldMoving is how long a request waits while the rows that it concerns are moving.
	HoldMoving time.Duration
	// FollowMove bounds how long a move waits until all servers follow it before it lets users write again.
	FollowMove time.Duration
	// LetWrite bounds how long a move tries to let users write again after such an attempt.
	LetWrite time.Duration
	// FollowErasure bounds how long an erasure waits until all servers follow it before it waits for a time that suffices without. It
	// is longer than requests take.
	FollowErasure time.Duration
	// MoveAtOnce bounds the transaction that moves all rows of a user. More rows move a page at a time.
	MoveAtOnce time.Duration

	// DeliverNow bounds how long a request waits for other homes after its transaction was committed.
	DeliverNow time.Duration
	// DeliverNotices bounds the delivery of a group of notices to the trays.
	DeliverNotices time.Duration

	// Check bounds a readiness check. It is below the default timeout of Kubernetes probes, one second, so that the response can name
	// the failed check.
	Check time.Duration
	// Announce bounds the announcement of a server at one home.
	Announce time.Duration
	// ShareRates bounds an exchange of the usage of rate limits with a home.
	ShareRates time.Duration
	// ReleaseWebhooks bounds how long a server that stops gives its webhooks up.
	ReleaseWebhooks time.Duration
	// FlushTraces bounds how long a server that stops waits for the collector of traces.
	FlushTraces time.Duration

	// ReadHeaders bounds the time in which the headers of a request must arrive.
	ReadHeaders time.Duration
	// WriteResponse bounds the time in which a client must read 64 KiB of a response.
	WriteResponse time.Duration
	// Admission bounds how long a client waits for the beginning of its stream or connection.
	Admission time.Duration
	// Subscribe bounds how long a client by MQTT waits for the subscriptions of a packet, which the rate limit of its user slows down.
	Subscribe time.Duration
	// LastEvent bounds how long a connection by MQTT stays open after the end of its session, until its client has the last event.
	LastEvent time.Duration
	// WriteStream closes the connection of a client that does not read its stream.
	WriteStream time.Duration

	// WebhookAttempt bounds an attempt to deliver an event to a webhook, from the connection to the end of the response.
	WebhookAttempt time.Duration
	// PushRequest bounds a request to a provider of push notifications.
	PushRequest time.Duration
	// SlowPush is the duration of an attempt to push after which the pushes of its user are paused.
	SlowPush time.Duration
	// FetchPage bounds the reading of a page for a link preview, with redirects.
	FetchPage time.Duration
	// DeleteFile bounds how long a background worker waits for the storage.
	DeleteFile time.Duration
	// AbortUpload bounds the clean-up of a failed upload; the sweep does the rest.
	AbortUpload time.Duration
}

// Production returns the limits of servers that users reach.
func Production() Limits {
	return Limits{
		BestEffort:     time.Second,
		SlowTrip:       400 * time.Millisecond,
		ReadLock:       250 * time.Millisecond,
		CanceledTrip:   time.Second,
		CancelGrace:    500 * time.Millisecond,
		CloseDatabases: 5 * time.Second,
		ReadRoutes:     time.Second,
		MoveLease:      10 * time.Second,
		AnnounceLease:  50 * time.Second,
		HoldMoving:     1500 * time.Millisecond,
		FollowMove:     600 * time.Millisecond,
		LetWrite:       2 * time.Second,
		FollowErasure:  12 * time.Second,
		MoveAtOnce:     time.Second,

		DeliverNow:     400 * time.Millisecond,
		DeliverNotices: 10 * time.Second,

		Check:           800 * time.Millisecond,
		Announce:        2 * time.Second,
		ShareRates:      2 * time.Second,
		ReleaseWebhooks: 3 * time.Second,
		FlushTraces:     3 * time.Second,

		ReadHeaders:   10 * time.Second,
		WriteResponse: 10 * time.Second,
		Admission:     5 * time.Second,
		Subscribe:     30 * time.Second,
		LastEvent:     10 * time.Second,
		WriteStream:   10 * time.Second,

		WebhookAttempt: 5 * time.Second,
		PushRequest:    10 * time.Second,
		SlowPush:       3 * time.Second,
		FetchPage:      5 * time.Second,
		DeleteFile:     10 * time.Second,
		AbortUpload:    5 * time.Second,
	}
}

// Lifted is each of the limits that Lift returns. It is longer than a machine stalls.
const Lifted = time.Minute

// Lift returns limits that only a failure exceeds, for tests.
func Lift() Limits {
	var l Limits
	fields := reflect.ValueOf(&l).Elem()
	for _, limit := range fields.Fields() {
		limit.SetInt(int64(Lifted))
	}
	return l
}
