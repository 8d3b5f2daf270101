package move

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// measureEvery is the interval at which unfinished moves are counted.
const measureEvery = 15 * time.Second

// unfinished are the states of unfinished moves.
var unfinished = []lifecycle.MoveState{
	lifecycle.MoveCollecting, lifecycle.MoveAnnounced, lifecycle.MoveFrozen, lifecycle.MoveMoving,
	lifecycle.MoveCleaning,
}

// metrics are the metrics of the moves of a region.
type metrics struct {
	unfinished *prometheus.GaugeVec
	oldest     prometheus.Gauge
	duration   *prometheus.HistogramVec
}

// newMetrics returns the metrics and registers them. A nil registerer registers none.
func newMetrics(registerer prometheus.Registerer) *metrics {
	register := promauto.With(registerer)
	m := &metrics{
		unfinished: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "plaza_user_moves", Help: "Unfinished moves of users whose ids contain this region, by state.",
		}, []string{"state"}),
		oldest: register.NewGauge(prometheus.GaugeOpts{
			Name: "plaza_user_moves_oldest_age_seconds", Help: "Time since the oldest unfinished move was requested; 0 if there is none.",
		}),
		duration: register.NewHistogramVec(prometheus.HistogramOpts{
			Name: "plaza_user_move_duration_seconds", Help: "Time from the request of a move to its end, by result.",
			Buckets: []float64{300, 3600, 24 * 3600},
		}, []string{"result"}),
	}
	for _, state := range unfinished {
		m.unfinished.WithLabelValues(string(state))
	}
	for _, result := range []lifecycle.MoveState{lifecycle.MoveDone, lifecycle.MoveCancelled} {
		m.duration.WithLabelValues(string(result))
	}
	return m
}

// ended records the end of a move that is in its last state.
func (m *metrics) ended(move lifecycle.UserMove, now time.Time) {
	m.duration.WithLabelValues(string(move.State)).Observe(now.Sub(move.RequestedAt).Seconds())
}

// MetricsJob returns the background job that counts the unfinished moves.
func (s *Service) MetricsJob() jobs.Job {
	return jobs.Job{
		Name: "metrics of moves", Lanes: 1, Every: measureEvery, Log: s.Log,
		Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
			return false, s.measure(ctx, home)
		},
	}
}

// measure counts the unfinished moves of a home.
func (s *Service) measure(ctx context.Context, home region.Code) error {
	counts := make([]lifecycle.MoveCount, len(unfinished))
	reads := s.Store.NewReadBatch()
	for i, state := range unfinished {
		reads.CountUserMoves(home, state, &counts[i])
	}
	if err := reads.Run(lifecycle.WithMover(ctx)); err != nil {
		return err
	}
	var oldest float64
	for i, c := range counts {
		s.metrics.unfinished.WithLabelValues(string(unfinished[i])).Set(float64(c.Moves))
		if c.Oldest != nil {
			oldest = max(oldest, s.Now().Sub(*c.Oldest).Seconds())
		}
	}
	s.metrics.oldest.Set(oldest)
	return nil
}
