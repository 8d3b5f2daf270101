// Package service holds what every noun's service needs: its dependencies, the first round trip of a request, and
// helpers for lists, pages and responses.
package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/textfilter"
	"github.com/plaza-social/plaza/platform/view"
)

// Deps are the dependencies of every service. All exported fields but Quotas and Push must be set.
type Deps struct {
	Store     *store.Store
	View      *view.Builder
	Directory *directory.Directory
	Outbox    *events.Outbox
	Region    region.Code // of this server
	NetworkID string
	Now       func() time.Time // UTC in milliseconds, the precision of the wire format
	NewID     func(home region.Code) string
	Log       *slog.Logger
	Quotas    Quotas
	// RankingAge is how old rankings that are the same for all callers may be.
	RankingAge time.Duration
	// Push are the senders of push notifications, by provider. Without any, nothing is pushed.
	Push map[string]push.Sender
	// RequireReadFile returns nil if a confirmed caller may read a restricted file.
	RequireReadFile func(ctx context.Context, caller *auth.Caller, f store.File) error

	TextRules textfilter.Cache // compiled moderation lists by home
}

// Millis returns the current time in UTC, truncated to milliseconds.
func Millis() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// HomeOf returns the home that stores the row with the id. The id must come from a row or from the directory; HomeOf
// returns an empty code for a malformed one.
func (d *Deps) HomeOf(id string) region.Code {
	home, _ := d.Store.HomeOf(id)
	return home
}
