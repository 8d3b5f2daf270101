package live

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service loads and changes the rows of one kind, rooms or video streams, and answers with them. All fields are set.
type Service[Row, Response any] struct {
	*service.Deps

	Of             func(*Row) Broadcast
	At             func(Row) (createdAt time.Time, key, id string) // the key is empty
	Read           func(reads *store.ReadBatch, id string, into **Row)
	Select         func(tx *store.Tx, id string, into **Row)
	KeepModeration func(tx *store.Tx, id string, old, seen media.Moderation, now time.Time, conflict error)
	Transitions    map[string]Transition // by event
	Respond        func(ctx context.Context, row Row) (*Response, error)
	ChangeOf       func(id string) events.Change // for realtime events
	FlaggedName    string                        // of the realtime event about findings of moderation that end nothing
}

// Get answers with a row that the caller may see.
func (s Service[Row, Response]) Get(ctx context.Context, id string) (*Response, error) {
	_, row, err := s.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.Respond(ctx, *row)
}

// List reads a page of rows from all homes by the time of their creation, without those that the caller may not see. Only callers
// who see every row list deleted ones.
func (s Service[Row, Response]) List(
	ctx context.Context, cursor page.Cursor, desc, deleted bool, read func(reads *store.ReadBatch, from page.Cursor, into *[]Row),
) ([]Row, *plazav1.Paging, error) {
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, nil, err
	}
	if deleted && !SeesAll(r.Caller) {
		return nil, nil, fail.NotAllowed()
	}
	rows, paging, err := service.Merged[Row]{Cursor: cursor, Desc: desc, At: s.At, Read: read}.Page(ctx, s.Deps)
	if err != nil {
		return nil, nil, err
	}
	rows, err = s.visible(ctx, r, rows)
	return rows, paging, err
}

// visible returns the rows of a list that the caller may see: those in posts that they may read, and those that they may take part
// in, without those from which they are banned.
func (s Service[Row, Response]) visible(ctx context.Context, r *service.Request, rows []Row) ([]Row, error) {
	rows = slices.DeleteFunc(rows, func(row Row) bool { return slices.Contains(s.Of(&row).Banned, r.Caller.UserID) })
	if SeesAll(r.Caller) {
		return rows, nil
	}
	var postIDs []string
	for i := range rows {
		if b := s.Of(&rows[i]); b.PostID != "" {
			postIDs = append(postIDs, b.PostID)
		}
	}
	shown, err := visibility.VisiblePostIDs(ctx, r, postIDs)
	return slices.DeleteFunc(rows, func(row Row) bool {
		b := s.Of(&row)
		takesPart := func() bool {
			return b.HasParticipant(r.Caller.UserID) && RequireTakePart(ctx, r.Deps, r.Caller, b) == nil
		}
		return !shown[b.PostID] && !takesPart()
	}), err
}

// Load reads a row that the caller may see.
func (s Service[Row, Response]) Load(ctx context.Context, id string) (*service.Request, *Row, error) {
	var row *Row
	r := s.newRequest(ctx, id, &row)
	err := r.Run(ctx)
	return r, row, err
}

// newRequest starts a request that reads a row, and fails unless the caller may see it.
func (s Service[Row, Response]) newRequest(ctx context.Context, id string, into **Row) *service.Request {
	r := s.NewRequest(ctx)
	s.Read(r.ReadBatch, id, into)
	r.AfterRun(func(ctx context.Context) error {
		return RequireSee(ctx, s.Deps, r.Caller, s.Of(*into))
	})
	return r
}

// LoadOwn reads a row that the caller may change.
func (s Service[Row, Response]) LoadOwn(ctx context.Context, id string) (*service.Request, *Row, error) {
	return s.LoadToUpdate(ctx, id, nil)
}

// LoadToUpdate is LoadOwn with checks of a new thumbnail and of new texts, which are nil if they stay as they are.
func (s Service[Row, Response]) LoadToUpdate(
	ctx context.Context, id string, thumbnail *string, texts ...*string,
) (*service.Request, *Row, error) {
	var row *Row
	r := s.newRequest(ctx, id, &row)
	r.Check(func() error { return RequireChange(r.Caller, s.Of(row).CreatorID) })
	requireDescription(r, s.HomeOf(id), thumbnail, texts...)
	err := r.Run(ctx)
	if err == nil && thumbnail != nil && s.Of(row).PostID != "" { // which may be in a private place
		err = fileref.Restrict(ctx, s.Deps, s.Of(row).CreatorID, *thumbnail)
	}
	return r, row, err
}

var errDisabled = fail.Forbidden("The network does not allow users to create streams and rooms")

// NewRequestToCreate starts the request of a user who creates a room or stream, with checks of the setting of the network, and
// of its thumbnail and texts.
func NewRequestToCreate(ctx context.Context, d *service.Deps, thumbnail *string, texts ...*string) *service.Request {
	r := d.NewUserRequest(ctx)
	var settings network.Settings
	r.Settings(d.Region, &settings)
	r.CheckThat(func() bool { return settings.IsVideoStreamingEnabled }, errDisabled)
	requireDescription(r, d.HomeOf(r.Caller.UserID), thumbnail, texts...)
	return r
}

func requireDescription(r *service.Request, home region.Code, thumbnail *string, texts ...*string) {
	if thumbnail != nil {
		fileref.Require(r, fileref.Reference{ID: *thumbnail, Kind: "image", Field: "thumbnailFileId"})
	}
	textrules.Require(r, home, textrules.TextOfFields(texts...))
}

// LoadReported reads a row for the media server, which may report on every one.
func (s Service[Row, Response]) LoadReported(ctx context.Context, id string) (*Row, error) {
	row, err := service.Read(ctx, s.Deps, s.Read, id)
	if err == nil && s.Of(row).Deleted {
		err = fail.NotFound()
	}
	return row, err
}

// Delete deletes a row that the caller may change. The post that shows it stays.
func (s Service[Row, Response]) Delete(
	ctx context.Context, id string, remove func(tx *store.Tx, row Row, by *auth.Caller),
) (*plazav1.StatusSuccessResponse, error) {
	r, row, err := s.LoadOwn(ctx, id)
	if err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(id))
	remove(tx, *row, r.Caller)
	return service.StatusSuccess(), tx.Commit(ctx)
}

// Change commits a change of a row, with the realtime event called name about it, and answers with the row as it is then. Without
// a name there is no event. change returns the outbox rows of further events.
func (s Service[Row, Response]) Change(
	ctx context.Context, name string, c events.Change, change func(*store.Tx) []core.OutboxRow,
) (*Response, error) {
	var after *Row
	tx := s.Store.NewTx(s.HomeOf(c.ID))
	sent := change(tx)
	s.Select(tx, c.ID, &after)
	if err := s.CommitChange(ctx, tx, name, c, sent...); err != nil {
		return nil, err
	}
	return s.Respond(ctx, *after)
}

// Move is a change of state. It returns the outbox rows of events in addition to that of the transition.
type Move func(tx *store.Tx, t Transition, now time.Time) []core.OutboxRow

// Apply applies an event to a row: move makes the change of state, if there is one. It answers with the row as it is
// then.
func (s Service[Row, Response]) Apply(ctx context.Context, row *Row, event string, move Move) (*Response, error) {
	b := s.Of(row)
	t := s.Transitions[event]
	changes, err := t.Next(event, b.Status)
	switch {
	case err != nil:
		return nil, err
	case !changes:
		return s.Respond(ctx, *row)
	}
	now := s.Now()
	return s.Change(ctx, t.Name, s.ChangeOf(b.ID), func(tx *store.Tx) []core.OutboxRow { return move(tx, t, now) })
}

// Report applies an event that the media server reports. It keeps the labels of a report of moderation.
func (s Service[Row, Response]) Report(ctx context.Context, row *Row, event string, labels []*plazav1.ModerationLabel,
	move Move,
) (*Response, error) {
	if event == Flagged || event == Terminated {
		return s.moderate(ctx, row, event, labels, move)
	}
	return s.Apply(ctx, row, event, move)
}

var errLabels = fail.Validation("labels: must be 1 to 20")

// moderate keeps the labels of a report of moderation. If the event is Terminated, it also ends the broadcast by move.
func (s Service[Row, Response]) moderate(ctx context.Context, row *Row, event string, labels []*plazav1.ModerationLabel,
	move Move,
) (*Response, error) {
	if len(labels) == 0 {
		return nil, errLabels
	}
	b := s.Of(row)
	if event == Flagged {
		var err error
		if event, labels, err = s.applyThresholds(ctx, b, labels); err != nil {
			return nil, err
		}
		if len(labels) == 0 {
			return s.Respond(ctx, *row)
		}
	}
	seen := addLabels(b.Moderation, labels, event == Terminated, s.Now(), func() string { return s.NewID(s.HomeOf(b.ID)) })
	keep := func(tx *store.Tx, moved []core.OutboxRow) []core.OutboxRow {
		s.KeepModeration(tx, b.ID, b.Moderation, seen, s.Now(), fail.Conflict())
		return moved
	}
	if event != Terminated {
		return s.Change(ctx, s.FlaggedName, s.ChangeOf(b.ID), func(tx *store.Tx) []core.OutboxRow { return keep(tx, nil) })
	}
	return s.Apply(ctx, row, event, func(tx *store.Tx, t Transition, now time.Time) []core.OutboxRow { return keep(tx, move(tx, t, now)) })
}

// applyThresholds applies the settings of the network to the labels of a flagged report. It returns the event to apply, which is
// Terminated if a label ends the broadcast, and the labels to keep.
func (s Service[Row, Response]) applyThresholds(
	ctx context.Context, b Broadcast, labels []*plazav1.ModerationLabel,
) (string, []*plazav1.ModerationLabel, error) {
	settings, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Settings, s.Region)
	kept, ends := judge(settings.StreamModeration, labels)
	if ends && slices.Contains(s.Transitions[Terminated].From, b.Status) {
		return Terminated, kept, err
	}
	return Flagged, kept, err
}
