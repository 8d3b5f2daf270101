package apptest

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The times of the moves of users, see app.WithMovePace.
const (
	movesRead   = 200 * time.Millisecond
	movesSettle = 2 * time.Second
)

// Option changes how a network is started.
type Option func(*options)

type options struct {
	fault      func() error
	sent       func([]db.Queued)
	refused    func(db.Queued)
	changes    []func(*config.Config)
	log        *slog.Logger
	production bool // see WithProductionLimits
	limited    func(*limits.Limits)
	clock      *Clock
}

// limits returns the time limits of the servers.
func (o options) limits() limits.Limits {
	l := limits.Lift()
	if o.production {
		l = limits.Production()
	}
	if o.limited != nil {
		o.limited(&l)
	}
	return l
}

func newOptions(opts []Option) options {
	o := options{log: slog.New(slog.DiscardHandler)}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithStoreFault calls fault before each transaction of every region; an error of fault replaces the database's
// answer.
func WithStoreFault(fault func() error) Option { return func(o *options) { o.fault = fault } }

// WithTransactions calls sent before each transaction of every region, and refused for the condition that made one fail.
func WithTransactions(sent func([]db.Queued), refused func(db.Queued)) Option {
	return func(o *options) { o.sent, o.refused = sent, refused }
}

// WithProductionLimits leaves the time limits of production in force. Only tests of outages need them: without this option a stall of
// the machine changes no answer, and a home that does not respond makes requests wait for limits.Lifted.
func WithProductionLimits() Option { return func(o *options) { o.production = true } }

// WithLimits changes time limits of the servers.
func WithLimits(change func(*limits.Limits)) Option { return func(o *options) { o.limited = change } }

// WithDatabaseURLs makes every region reach the rows of a home at the address that rewrite derives from the
// database's own, such as that of a proxy. Homes that urls does not name are reached directly.
func WithDatabaseURLs(urls map[region.Code]func(database string) string) Option {
	return WithConfig(func(cfg *config.Config) {
		for code, rewrite := range urls {
			*urlOf(cfg, code) = dburl.MustParse(rewrite(cfg.DatabaseURL.Reveal()))
		}
	})
}

// WithConfig changes the configuration of every region. cfg.Region is the region.
func WithConfig(change func(cfg *config.Config)) Option {
	return func(o *options) { o.changes = append(o.changes, change) }
}

// WithLog sets the servers' logger. Without it, logs are discarded.
func WithLog(log *slog.Logger) Option { return func(o *options) { o.log = log } }

// WithClock makes the servers use a clock that the test moves.
func WithClock(c *Clock) Option { return func(o *options) { o.clock = c } }

func urlOf(cfg *config.Config, code region.Code) *dburl.URL {
	return map[region.Code]*dburl.URL{
		region.US: &cfg.DatabaseURLUS, region.EU: &cfg.DatabaseURLEU, region.SG: &cfg.DatabaseURLSG,
	}[code]
}

// KeyFiles are the paths of a network's keys.
type KeyFiles struct {
	Server  string
	API     string
	Signing string
}

// makeKeys creates keys that exist until the test ends.
func (n *Network) makeKeys(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	n.Keys = KeyFiles{
		Server:  filepath.Join(dir, "server-keys.json"),
		API:     filepath.Join(dir, "api-keys.json"),
		Signing: filepath.Join(dir, "signing-keys.json"),
	}
	var err error
	n.ServerKey, err = auth.GenerateKeySet(n.Keys.Server, "k1")
	require.NoError(t, err)
	n.APIKey, err = auth.GenerateKeySet(n.Keys.API, "k1")
	require.NoError(t, err)
	require.NoError(t, auth.GenerateKeyring(n.Keys.Signing))
	n.AdminToken = n.MintAdmin(t, "test", n.options.clock.Now(), time.Hour)
}
