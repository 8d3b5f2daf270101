package delivery_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/network"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

var (
	start    = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	secret   = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes length"))
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
)

// world is a home with a log, webhooks and a clock.
type world struct {
	t          *testing.T
	url        string
	deps       *service.Deps
	sealer     *seal.Sealer
	dispatcher *delivery.Dispatcher
	options    delivery.Options
	registry   *prometheus.Registry
	now        atomic.Pointer[time.Time]
	seq        int
	dbtest.Interruption
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, url: dbtest.New(t), registry: prometheus.NewRegistry()}
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": w.url}, StatementTimeout: patience, Sent: w.Sent})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	w.now.Store(&start)
	w.deps = &service.Deps{
		Store: st, Region: region.EU, NetworkID: "0123456789abcdef01234567", Now: func() time.Time { return *w.now.Load() }, NewID: region.NewID,
		Log: slog.New(slog.DiscardHandler),
	}
	w.sealer, err = seal.New([]byte("directory key"))
	require.NoError(t, err)
	w.options = delivery.Options{
		Store: w.deps.Store, Region: w.deps.Region, NetworkID: w.deps.NetworkID, Now: w.deps.Now, Log: w.deps.Log, Source: source{},
		Sealer: w.sealer, Networks: loopback, Registerer: w.registry,
	}
	w.dispatcher = delivery.New(w.options)
	return w
}

// source reads objects that contain their id only, apart from the ones named large, gone and unread.
type source struct{}

func (source) ChangeOf(_ region.Code, e eventlog.LoggedEvent) (string, *events.Change, error) {
	return e.Name, &events.Change{Kind: events.KindPost, ID: e.Topic, Topics: []string{"network/post/" + e.Topic}}, nil
}

func (source) ReadChange(_ context.Context, _ region.Code, _ eventlog.LoggedEvent, c events.Change) (map[string]json.RawMessage, error) {
	switch c.ID {
	case "gone":
		return nil, events.ErrUndeliverable
	case "unread":
		return nil, errors.New("the database does not answer")
	}
	fields := `"postId":"` + c.ID + `"`
	if c.ID == "large" {
		fields += `,"text":"` + strings.Repeat("a", 1<<20) + `"` // the maximum size of a delivery, without the rest of it
	}
	return map[string]json.RawMessage{"posts": json.RawMessage(`[{` + fields + `}]`)}, nil
}

// exec runs a statement directly on the database.
func (w *world) exec(sql string) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.url)
	require.NoError(w.t, err)
	_, err = conn.Exec(w.t.Context(), sql)
	require.NoError(w.t, errors.Join(err, conn.Close(w.t.Context())))
}

// advance moves the clock forward.
func (w *world) advance(d time.Duration) {
	now := w.deps.Now().Add(d)
	w.now.Store(&now)
}

// add creates a webhook and returns its id.
func (w *world) add(url string, names ...string) string {
	w.t.Helper()
	hook := network.Webhook{
		ID: region.NewID(region.EU), URL: url, Events: names, IsEnabled: true,
		CreatedAt: w.deps.Now().Add(time.Duration(w.seq) * time.Millisecond), ChangedAt: w.deps.Now(),
	}
	w.seq++
	hook.Secret = w.sealer.Seal(hook.ID, secret)
	tx := w.deps.Store.NewTx(region.EU)
	tx.UpsertWebhooks([]network.Webhook{hook}, start.Add(-time.Hour))
	require.NoError(w.t, tx.Commit(w.t.Context()))
	w.dispatcher = delivery.New(w.options.WithoutMetrics())
	return hook.ID
}

// log writes events to the log of the home, as name and object.
func (w *world) log(all ...[2]string) {
	w.t.Helper()
	list := make([]eventlog.Event, len(all))
	for i, e := range all {
		list[i] = eventlog.Event{ID: region.NewID(region.EU), Name: e[0], Topic: e[1], Payload: json.RawMessage(`{}`), SentAt: w.deps.Now()}
	}
	tx := w.deps.Store.NewTx(region.EU)
	tx.InsertEvents(list, w.deps.Now())
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

// drain runs rounds of a lane until nothing is due.
func (w *world) drain(lane int64) {
	w.t.Helper()
	for more := true; more; {
		var err error
		more, err = w.dispatcher.Drain(w.t.Context(), region.EU, lane)
		require.NoError(w.t, err)
	}
}

// deliveries returns the deliveries of a webhook in a state.
func (w *world) deliveries(id, state string) []network.WebhookDelivery {
	w.t.Helper()
	var rows []network.WebhookDelivery
	reads := w.deps.Store.NewReadBatch()
	reads.ListWebhookDeliveries(region.EU, network.WebhookDeliveryList{WebhookID: id, State: state, Limit: 1000}, &rows)
	require.NoError(w.t, reads.Run(w.t.Context()))
	return rows
}

// replay sends the dead letters of a webhook again: all of them, or those of some events.
func (w *world) replay(id string, seqs ...int64) (replayed int64) {
	w.t.Helper()
	tx := w.deps.Store.NewTx(region.EU)
	tx.ReplayWebhookDeliveries(id, seqs, w.deps.Now(), w.deps.Now().Add(delivery.RetryFor), &replayed)
	require.NoError(w.t, tx.Commit(w.t.Context()))
	return replayed
}

// receiver is a server that records what is sent to it.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	received []received
	// answer returns the status of a delivery; nil means 200.
	answer func(received) int
}

// received is a delivery.
type received struct {
	header http.Header
	raw    []byte
	event  string
	post   string
}

func newReceiver(t *testing.T, answer func(received) int) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP records a delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, _ := io.ReadAll(req.Body)
	got := received{header: req.Header, raw: raw}
	var body struct {
		Event string `json:"event"`
		Data  struct {
			Posts []struct {
				PostID string `json:"postId"`
			} `json:"posts"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &body); err != nil || len(body.Data.Posts) != 1 {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	got.event, got.post = body.Event, body.Data.Posts[0].PostID
	status := http.StatusOK
	if r.answer != nil {
		status = r.answer(got)
	}
	r.mu.Lock()
	r.received = append(r.received, got)
	r.mu.Unlock()
	w.WriteHeader(status)
}

// take returns what arrived since the last call as "event object".
func (r *receiver) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := []string{}
	for _, got := range r.received {
		texts = append(texts, fmt.Sprintf("%s %s", got.event, got.post))
	}
	r.received = nil
	return texts
}
