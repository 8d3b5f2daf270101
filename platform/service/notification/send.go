package notification

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/span"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/notify"
)

const (
	// sendEvery is the interval at which a server looks for due pushes.
	sendEvery = 500 * time.Millisecond
	// sendBatch is the number of pushes that are claimed at a time, and sendersPerProvider that of concurrent requests to a provider.
	sendBatch          = 100
	sendersPerProvider = 25
	// claimTime is how long other servers leave a claimed push alone. It covers a batch to a provider that does not answer.
	claimTime = 2 * time.Minute
	// firstRetry is the delay after the first failure; it doubles with each, up to lastRetry.
	firstRetry = 5 * time.Second
	lastRetry  = 30 * time.Minute
)

// Sender sends the pushes of a home.
type Sender struct {
	*service.Deps

	results *prometheus.CounterVec
	slow    *slowUsers
	polls   jobs.Positions
}

// resultSent and resultDropped are the results of pushes besides the outcomes of failures.
const (
	resultSent    = "sent"
	resultDropped = "dropped"
)

// NewSender returns the sender of pushes, and registers its metrics.
func NewSender(d *service.Deps, registerer prometheus.Registerer) (*Sender, error) {
	s := &Sender{Deps: d, slow: newSlowUsers(d.Store.Limits().SlowPush), results: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "plaza_push_notifications_total",
		Help: "Attempts to send a push notification, by provider and result: sent, later, gone, refused, dropped.",
	}, []string{"provider", "result"})}
	for _, provider := range push.Providers {
		for _, result := range []string{resultSent, string(push.Later), string(push.Gone), string(push.Refused), resultDropped} {
			s.results.WithLabelValues(provider, result)
		}
	}
	return s, registerer.Register(s.results)
}

// Job returns the background job that sends due pushes. Each provider has a lane, so that a slow one does not delay the others.
func (s *Sender) Job() jobs.Job {
	return jobs.Job{
		Name: "push notifications", Lanes: int64(len(push.Providers)), Every: sendEvery, Log: s.Log,
		Drain: func(ctx context.Context, home region.Code, lane int64) (bool, error) {
			provider := push.Providers[lane]
			if s.Push[provider] == nil {
				return false, nil
			}
			return s.drain(ctx, home, provider, s.polls.Of(home, lane))
		},
	}
}

// drain claims a batch of due pushes of a provider, sends them, and stores the results.
func (s *Sender) drain(ctx context.Context, home region.Code, provider string, poll *jobs.Position) (more bool, err error) {
	var due []notify.DuePush
	now := s.Now()
	tx := s.Store.NewTx(home)
	tx.ClaimPushes(provider, poll.After(), now, now.Add(claimTime), sendBatch, &due)
	err = tx.Commit(ctx)
	poll.Ended(now, err == nil && len(due) < sendBatch)
	if err != nil || len(due) == 0 {
		return false, err
	}
	slices.SortFunc(due, func(a, b notify.DuePush) int { return strings.Compare(a.ID, b.ID) }) // the order in which their rows are updated
	results := s.sendAll(ctx, due)
	tx = s.Store.NewTx(home)
	removeDevices(tx, due, results)
	for i, p := range due {
		s.finish(tx, p, results[i])
	}
	return len(due) == sendBatch, tx.Commit(context.WithoutCancel(ctx)) // what was sent must not be sent again
}

// sendAll sends pushes concurrently and returns the results.
func (s *Sender) sendAll(ctx context.Context, due []notify.DuePush) []error {
	results := make([]error, len(due))
	free := make(chan struct{}, sendersPerProvider)
	var g sync.WaitGroup
	for i, p := range due {
		free <- struct{}{}
		g.Go(func() {
			defer func() { <-free }()
			results[i] = s.send(ctx, p)
		})
	}
	g.Wait()
	return results
}

// errNoDevice is the result for devices that are no longer registered.
var errNoDevice = errors.New("the device is no longer registered")

func (s *Sender) send(ctx context.Context, p notify.DuePush) error {
	if p.Token == nil {
		return errNoDevice
	}
	m := push.Message{ID: p.ID, Title: p.Title, Body: p.Body}
	if err := json.Unmarshal(p.Data, &m.Data); err != nil {
		return err
	}
	if err := s.slow.check(p.Provider, p.UserID, s.Now()); err != nil {
		return err
	}
	began := s.Now()
	err := s.sendTraced(ctx, p, m)
	s.slow.note(p.Provider, p.UserID, s.Now().Sub(began), s.Now())
	return err
}

// sendTraced sends a message within a span of the trace of the request that caused it.
func (s *Sender) sendTraced(ctx context.Context, p notify.DuePush, m push.Message) error {
	ctx, traced := span.Continue(ctx, p.Trace, "push "+p.Provider, trace.SpanKindClient, func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.Int64("plaza.attempts", p.Attempts-1)} // the claim has counted this one
	})
	defer traced.End()
	err := s.Push[p.Provider].Send(ctx, *p.Token, m)
	if err != nil {
		traced.SetStatus(codes.Error, "")
	}
	return err
}

// finish adds the consequence of a result to tx.
func (s *Sender) finish(tx *store.Tx, p notify.DuePush, result error) {
	failure, failed := errors.AsType[*push.SendError](result)
	pause, paused := errors.AsType[*pausedError](result)
	switch {
	case paused:
		s.postpone(tx, p, pause.until, result.Error())
		return
	case failed && failure.Outcome == push.Later:
		s.count(p, string(push.Later))
		s.postpone(tx, p, s.Now().Add(max(failure.After, backOff(p.Attempts))), failure.Reason)
		return
	case failed && failure.Outcome == push.Gone:
		s.count(p, string(push.Gone))
	case failed, result != nil && !errors.Is(result, errNoDevice):
		s.Log.Warn("push notification refused", "provider", p.Provider, "reason", result.Error())
		s.count(p, string(push.Refused))
	case result != nil:
		s.count(p, resultDropped)
	default:
		s.count(p, resultSent)
	}
	tx.FinishPush(p.Push)
}

// removeDevices adds to tx the removal of the tokens that their provider reports as gone, in the order of their keys.
func removeDevices(tx *store.Tx, due []notify.DuePush, results []error) {
	var gone []notify.DuePush
	for i, p := range due {
		if failure, failed := errors.AsType[*push.SendError](results[i]); failed && failure.Outcome == push.Gone {
			gone = append(gone, p)
		}
	}
	slices.SortFunc(gone, func(a, b notify.DuePush) int {
		return cmp.Or(strings.Compare(a.UserID, b.UserID), strings.Compare(a.Device, b.Device), strings.Compare(*a.Token, *b.Token))
	})
	for _, p := range gone {
		tx.RemovePushToken(p.UserID, p.Device, *p.Token)
	}
}

// postpone postpones a push, or drops it if it would become old.
func (s *Sender) postpone(tx *store.Tx, p notify.DuePush, next time.Time, reason string) {
	if next.Sub(p.CreatedAt) <= push.Lifetime {
		tx.DelayPush(p.Push, next)
		return
	}
	s.Log.Warn("push notification dropped after the last attempt", "provider", p.Provider, "reason", reason, "attempts", p.Attempts)
	s.count(p, resultDropped)
	tx.FinishPush(p.Push)
}

// backOff returns the delay after a number of attempts.
func backOff(attempts int64) time.Duration {
	return min(firstRetry<<min(max(attempts-1, 0), 16), lastRetry)
}

func (s *Sender) count(p notify.DuePush, result string) {
	s.results.WithLabelValues(p.Provider, result).Inc()
}
