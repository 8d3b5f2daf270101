package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/sony/gobreaker/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The actions of a pre-hook.
const (
	Allow = "allow"
	Deny  = "deny"
)

// PrehookID is the id with which the pre-hook's secret is sealed.
const PrehookID = "prehook"

const (
	// settingsAge is how old the settings of the pre-hook can be. The dispatcher reads them every second.
	settingsAge = 3 * time.Second
	// breakAfter is the number of failures in succession after which the pre-hook is not asked for breakTime.
	breakAfter = 5
	breakTime  = 10 * time.Second
	// maxAsked is the number of requests to the pre-hook at a time.
	maxAsked = 256
	// maxMessage is the number of characters of the message of a denial.
	maxMessage = 300
)

// Prehook asks the address of the network's settings before changes by users. It is asked before any transaction begins.
type Prehook struct {
	Options
	client *http.Client
	free   chan struct{}
	asked  *prometheus.CounterVec

	mu     sync.Mutex
	readAt time.Time
	prehookState
}

// NewPrehook returns the pre-hook of a server. Source is not needed.
func NewPrehook(o Options) *Prehook {
	return &Prehook{
		Options: o, client: o.newClient(maxAsked), free: make(chan struct{}, maxAsked),
		asked: promauto.With(o.Registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_prehook_requests_total",
			Help: "Requests before which the pre-hook was asked, by result: allow, change, deny, and failed if the default action applied.",
		}, []string{"result"}),
	}
}

// answer is what the pre-hook answered.
type answer struct {
	Action  string                     `json:"action"`
	Message string                     `json:"message"`
	Data    map[string]json.RawMessage `json:"data"`
}

// question is what the pre-hook is asked.
type question struct {
	EventName string          `json:"eventName"`
	Data      json.RawMessage `json:"data"`
	Actor     actor           `json:"actor"`
	NetworkID string          `json:"networkId"`
}

type actor struct {
	ID     string `json:"_id"`
	UserID string `json:"userId"`
}

// Ask asks the pre-hook before an operation. It returns an error if the operation is denied, and reports whether it changed the
// request. Administrators and servers are not asked about.
func (p *Prehook) Ask(ctx context.Context, procedure string, request proto.Message) (changed bool, err error) {
	event, ok := prehookEvents()[procedure]
	caller := auth.CallerFrom(ctx)
	if !ok || caller.Kind == auth.Admin || caller.Kind == auth.Anonymous && !signsIn(procedure) {
		return false, nil
	}
	c, err := p.current(ctx)
	if err != nil {
		return false, err
	}
	if !c.settings.IsEnabled || len(c.settings.Events) > 0 && !slices.Contains(c.settings.Events, event.GetEvent()) {
		return false, nil
	}
	body, err := p.question(caller, event, request)
	if err != nil {
		return false, err
	}
	a, err := c.breaker.Execute(func() (answer, error) { return p.post(ctx, c, body) })
	if err != nil {
		return false, p.byDefault(ctx, c.settings, err)
	}
	return p.follow(event, request, a)
}

// signsIn reports whether an operation is one of users who are not signed in yet.
func signsIn(procedure string) bool {
	access, _ := auth.AccessOf(procedure)
	return access.Caller == plazav1.Access_CALLER_API_KEY
}

// prehookState is the state of the pre-hook that a request uses.
type prehookState struct {
	settings network.PrehookSettings
	secret   string
	breaker  *gobreaker.CircuitBreaker[answer]
}

// current returns the settings, which are at most settingsAge old.
func (p *Prehook) current(ctx context.Context) (prehookState, error) {
	if c, ok := p.fresh(); ok {
		return c, nil
	}
	settings, err := p.read(ctx)
	if err != nil {
		return prehookState{}, err
	}
	if err := p.Use(settings.Prehook); err != nil {
		return prehookState{}, err
	}
	c, _ := p.fresh()
	return c, nil
}

// read reads the settings, which are the same at every home, from the first home that answers, the server's own first.
func (p *Prehook) read(ctx context.Context) (settings network.Settings, err error) {
	homes := slices.Concat([]region.Code{p.Region}, region.All())
	for _, home := range slices.Compact(homes) {
		reads := p.Store.NewReadBatch()
		reads.Settings(home, &settings)
		if err = reads.Run(ctx); err == nil || ctx.Err() != nil {
			return settings, err
		}
	}
	return settings, err
}

// fresh returns the settings, and whether they are not too old.
func (p *Prehook) fresh() (prehookState, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.prehookState, time.Since(p.readAt) < settingsAge
}

// Use makes the pre-hook use settings that were just read.
func (p *Prehook) Use(s network.PrehookSettings) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readAt = time.Now()
	if p.breaker == nil || s.URL != p.settings.URL {
		p.breaker = gobreaker.NewCircuitBreaker[answer](gobreaker.Settings{
			Name: PrehookID, Timeout: breakTime,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakAfter },
			IsExcluded:  func(err error) bool { return errors.Is(err, context.Canceled) || errors.Is(err, errBusy) },
		})
	}
	p.settings, p.secret = s, ""
	if len(s.Secret) == 0 {
		return nil
	}
	var err error
	p.secret, err = p.Sealer.Open(PrehookID, s.Secret)
	return err
}

// question returns the body of a request to the pre-hook.
func (p *Prehook) question(caller *auth.Caller, event *plazav1.PrehookEvent, request proto.Message) ([]byte, error) {
	asked := proto.Clone(request)
	for _, name := range event.GetHidden() {
		asked.ProtoReflect().Clear(fieldOf(asked, name))
	}
	data, err := freeform.MarshalJSON(asked)
	if err != nil {
		return nil, err
	}
	return json.Marshal(question{
		EventName: event.GetEvent(), Data: data, Actor: actor{caller.UserID, caller.PublicID}, NetworkID: p.NetworkID,
	})
}

var errBusy = errors.New("too many requests wait for the pre-hook")

// failure is a failed request to the pre-hook.
type failure struct{ reason string }

func (f failure) Error() string { return "the pre-hook failed: " + f.reason }

// post asks the pre-hook.
func (p *Prehook) post(ctx context.Context, c prehookState, body []byte) (answer, error) {
	select {
	case p.free <- struct{}{}:
		defer func() { <-p.free }()
	default:
		return answer{}, errBusy
	}
	bounded, cancel := context.WithTimeout(ctx, time.Duration(c.settings.TimeoutMS)*time.Millisecond)
	defer cancel()
	header := http.Header{}
	header.Set("X-Signature", hexMAC(c.secret, body))
	outcome, text := post(bounded, p.client, c.settings.URL, header, body)
	if err := ctx.Err(); err != nil {
		return answer{}, err // the client is gone
	}
	if outcome.failed != "" {
		return answer{}, failure{outcome.failed}
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || a.Action != Allow && a.Action != Deny {
		return answer{}, failure{"the answer has no action"}
	}
	return a, nil
}

// byDefault returns the result of an operation about which the pre-hook did not answer.
func (p *Prehook) byDefault(ctx context.Context, s network.PrehookSettings, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.asked.WithLabelValues("failed").Inc()
	p.Log.WarnContext(ctx, "the pre-hook did not answer", slog.String("action", s.DefaultAction), slog.Any("error", cause))
	if s.DefaultAction == Deny {
		return fail.Forbidden("The request could not be checked")
	}
	return nil
}

// follow does what the pre-hook answered.
func (p *Prehook) follow(event *plazav1.PrehookEvent, request proto.Message, a answer) (changed bool, err error) {
	if a.Action == Deny {
		p.asked.WithLabelValues("deny").Inc()
		return false, fail.Forbidden(denial(a.Message))
	}
	changed, err = change(event, request, a.Data)
	if err != nil {
		p.asked.WithLabelValues("failed").Inc()
		return false, fail.Unavailable("the pre-hook answered with values that the operation cannot have", err)
	}
	if changed {
		p.asked.WithLabelValues("change").Inc()
	} else {
		p.asked.WithLabelValues(Allow).Inc()
	}
	return changed, nil
}

// denial returns the message of a denial.
func denial(message string) string {
	runes := []rune(message)
	if len(runes) == 0 {
		return fail.MessageNotAllowed
	}
	return string(runes[:min(len(runes), maxMessage)])
}

// change sets those fields of a request that a pre-hook can change, and reports whether there were some.
func change(event *plazav1.PrehookEvent, request proto.Message, data map[string]json.RawMessage) (bool, error) {
	allowed := map[string]json.RawMessage{}
	for _, name := range event.GetChanges() {
		field := fieldOf(request, name).JSONName()
		if value, ok := data[field]; ok {
			allowed[field] = value
		}
	}
	if len(allowed) == 0 {
		return false, nil
	}
	text, err := json.Marshal(allowed)
	if err != nil {
		return false, err
	}
	changes := request.ProtoReflect().New().Interface()
	if err := freeform.UnmarshalJSON(text, changes); err != nil {
		return false, err
	}
	target, source := request.ProtoReflect(), changes.ProtoReflect()
	fields := target.Descriptor().Fields()
	for name := range allowed {
		field := fields.ByJSONName(name)
		if source.Has(field) {
			target.Set(field, source.Get(field))
		} else {
			target.Clear(field)
		}
	}
	return true, nil
}

// fieldOf returns a field that the option of an operation names.
func fieldOf(request proto.Message, name string) protoreflect.FieldDescriptor {
	return request.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
}
