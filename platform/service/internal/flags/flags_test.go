package flags

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestAdministrators tests that administrators have no flags. The requests read nothing: there is no database.
func TestAdministrators(t *testing.T) {
	t.Parallel()
	admin := servicetest.Admin()
	ctx := auth.WithCaller(t.Context(), admin)
	newRequest := func() *service.Request {
		return &service.Request{ReadBatch: store.New(new(db.DB)).NewReadBatch(), Caller: admin}
	}
	r := newRequest()
	Remove(r)
	require.Equal(t, fail.CodeForbidden, fail.From(r.Run(ctx)).Code)

	got, err := Mine(ctx, newRequest(), "malformed")
	require.NoError(t, err)
	require.False(t, got.GetResult() || got.GetIsFlagByMe())
}

// TestChange checks what the changes of flags hide, and the names of their events.
func TestChange(t *testing.T) {
	t.Parallel()
	addition := Change{settings: &network.Settings{}}
	hiding := Change{settings: &network.Settings{FlagHideLimit: 1}}
	for name, test := range map[string]struct {
		change Change
		limit  int
		adds   bool
		event  string
	}{
		"addition":                          {addition, 0, true, "post.flagged"},
		"addition where flags hide content": {hiding, 1, true, "post.flagged"},
		"removal":                           {Change{}, 0, false, "post.unflagged"},
		"removal of all":                    {Change{clears: true}, 0, false, "post.flagsCleared"},
	} {
		require.Equal(t, test.limit, test.change.HideLimit(), name)
		require.Equal(t, test.adds, test.change.IsAddition(), name)
		require.Equal(t, test.event, test.change.Event("post", "flagsCleared"), name)
	}
}

func TestModeratorID(t *testing.T) {
	t.Parallel()
	require.Equal(t, content.FlagAdministrator, ModeratorID(servicetest.Admin()))
	require.Equal(t, "user", ModeratorID(servicetest.User(t, "user")))
}

// world is a database with a post that users flag.
type world struct {
	*servicetest.World
	post content.Post
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: servicetest.NewWorld(t), post: servicetest.NewPost("user", region.NewID(region.EU), region.NewID(region.EU))}
	w.Deps.View = &view.Builder{Now: service.Millis, Catalog: &auth.Catalog{}}
	w.Commit(t, func(tx *store.Tx) { tx.InsertPost(w.post) })
	return w
}

// change runs a request of a caller about a change of the flags of the post, and then the change.
func (w *world) change(ctx context.Context, t *testing.T, newChange func(*service.Request) Change) error {
	t.Helper()
	r := w.Deps.NewRequest(ctx)
	c := newChange(r)
	if err := r.Run(ctx); err != nil {
		return err
	}
	tx := w.Store.NewTx(region.EU)
	c.Apply(tx, OfPost(w.post), w.Deps.Now())
	return tx.Commit(t.Context())
}

func (w *world) item(t *testing.T) *content.FlagItem {
	t.Helper()
	item, err := service.Read(t.Context(), w.Deps, (*store.ReadBatch).FlagItem, w.post.ID)
	require.NoError(t, err)
	return item
}

// flags returns which of the users flag the post.
func (w *world) flags(t *testing.T, users ...context.Context) (flags []bool) {
	t.Helper()
	for _, ctx := range users {
		got, err := Mine(ctx, w.Deps.NewRequest(ctx), w.post.ID)
		require.NoError(t, err)
		require.Equal(t, got.GetResult(), got.GetIsFlagByMe())
		flags = append(flags, got.GetResult())
	}
	return flags
}

func add(r *service.Request) Change {
	return Add(r, content.FlagPost, &plazav1.FlagPostRequest{Detail: "detail"})
}

// TestFlags adds flags of a post and removes them.
func TestFlags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, first := w.AddUser(t)
	_, second := w.AddUser(t)
	admin := auth.WithCaller(t.Context(), servicetest.Admin())
	removeExisting := func(r *service.Request) Change { return RemoveExisting(r, fail.NotFound()) }

	require.Equal(t, fail.CodeForbidden, servicetest.CodeOf(w.change(admin, t, add)), "administrators do not flag")
	require.NoError(t, w.change(first, t, Remove), "without a flag it changes nothing")
	require.Equal(t, fail.CodeNotFound, servicetest.CodeOf(w.change(first, t, removeExisting)), "without a flag")
	for range 2 {
		require.NoError(t, w.change(first, t, add), "flagging twice changes nothing")
	}
	require.Equal(t, []bool{true, false, false}, w.flags(t, first, second, admin))
	require.Equal(t, []any{"Others", int64(1), content.FlagsOpen}, []any{w.item(t).Reason, w.item(t).FlagCount, w.item(t).State})
	require.NoError(t, w.change(second, t, add))
	require.NoError(t, w.change(first, t, removeExisting))
	require.Equal(t, []bool{false, true}, w.flags(t, first, second))
	require.NoError(t, w.change(second, t, Remove))
	require.Equal(t, []bool{false, false}, w.flags(t, first, second))
	require.Equal(t, content.FlagsWithdrawn, w.item(t).Outcome)

	require.NoError(t, w.change(first, t, add))
	require.NoError(t, w.change(admin, t, Clear))
	require.Equal(t, []bool{false, false}, w.flags(t, first, second))
	require.Equal(t, []any{content.FlagsDismissed, content.FlagAdministrator}, []any{w.item(t).Outcome, w.item(t).ResolvedBy})
}

// TestSettings checks the settings of the network that refuse flags.
func TestSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, first := w.AddUser(t)
	_, second := w.AddUser(t)
	w.Commit(t, func(tx *store.Tx) {
		tx.UpsertSetting(network.SettingRow{Name: "flagLimit", Value: []byte("1"), ChangedAt: servicetest.Noon})
	})
	require.NoError(t, w.change(first, t, add))
	require.Equal(t, servicetest.CodeOf(fail.FlagLimit()), servicetest.CodeOf(w.change(second, t, add)))
	require.Equal(t, []bool{true, false}, w.flags(t, first, second))
	w.Commit(t, func(tx *store.Tx) {
		tx.UpsertSetting(network.SettingRow{Name: "isReportEnabled", Value: []byte("false"), ChangedAt: servicetest.Noon})
	})
	require.Equal(t, fail.CodeForbidden, servicetest.CodeOf(w.change(first, t, add)), "reports are disabled")
	require.NoError(t, w.change(first, t, Remove), "flags can be removed")
}

// TestReview checks that a review resolves the flags that hide the content, and no others.
func TestReview(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hidden, approved bool
		want             content.FlagOutcome
	}{
		"approved": {true, true, content.FlagsDismissed},
		"declined": {true, false, content.FlagsContentRemoved},
		"visible":  {false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id, ctx := w.AddUser(t)
			r := w.Deps.NewRequest(ctx)
			require.NoError(t, r.Run(ctx))
			review := func(item *content.FlagItem) error {
				tx := w.Store.NewTx(region.EU)
				Review(tx, r, item, test.approved)
				tx.RecomputePostFlags(w.post)
				return tx.Commit(t.Context())
			}
			require.NoError(t, review(nil), "without flags")
			require.NoError(t, w.change(ctx, t, add))
			w.Exec(t, fmt.Sprintf(`UPDATE flag_items SET is_hidden = %t`, test.hidden))
			stale := w.item(t)
			require.NoError(t, review(stale))
			item := w.item(t)
			require.Equal(t, test.want, item.Outcome)
			require.False(t, item.IsHidden)
			require.Equal(t, []bool{!test.hidden}, w.flags(t, ctx))
			if test.hidden {
				require.Equal(t, id, item.ResolvedBy)
				require.ErrorIs(t, review(stale), core.ErrConflict, "the item has changed")
			}
		})
	}
}
