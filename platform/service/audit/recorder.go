package audit

import (
	"context"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Client is what a request reveals about its client.
type Client struct{ Address, UserAgent, RequestID string }

// Recorder stores the audit events of requests. The event of a request is stored by the first transaction that the request
// commits, if the request has exercised a privilege by then; handlers do nothing for it.
type Recorder struct {
	deps       *service.Deps
	client     func(context.Context) Client
	operations map[string]operation // by procedure: those that may leave an event
}

// operation is an operation that may leave an event.
type operation struct {
	auth.Access
	reads bool // it changes nothing, so that there are no values before and after
}

// NewRecorder returns a Recorder. client returns the client of a request.
func NewRecorder(d *service.Deps, client func(context.Context) Client) *Recorder {
	return &Recorder{deps: d, client: client, operations: auditedOperations()}
}

// auditedOperations returns the operations that change something or are declared as audited.
func auditedOperations() map[string]operation {
	all := map[string]operation{}
	auth.RangeMethods(func(procedure string, method protoreflect.MethodDescriptor) {
		access, _ := auth.AccessOf(procedure)
		options, _ := method.Options().(*descriptorpb.MethodOptions)
		reads := options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS
		if access.Audited || !reads {
			all[procedure] = operation{access, reads}
		}
	})
	return all
}

// Interceptor returns the interceptor that records operations. It must come after the one that identifies the caller and
// after the one that replays answers.
func (r *Recorder) Interceptor() connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			called, audited := r.operations[request.Spec().Procedure]
			if !audited {
				return next(ctx, request)
			}
			message, _ := request.Any().(proto.Message)
			e := r.newEvent(ctx, request.Spec().Procedure, called, message)
			ctx, stored := store.WithRecord(ctx, e.record)
			response, err := next(ctx, request)
			if err == nil && called.Audited && !stored() {
				err = e.store(ctx)
			}
			if err != nil {
				return nil, err
			}
			return response, nil
		}
	})
}

// Record returns ctx for a request that is no operation of a service, such as an upload. ctx must contain the caller.
func (r *Recorder) Record(ctx context.Context, procedure string) context.Context {
	ctx, _ = store.WithRecord(ctx, r.newEvent(ctx, procedure, operation{}, nil).record)
	return ctx
}

// event is the event of one request.
type event struct {
	*Recorder
	row     network.AuditEvent // without the actor
	called  operation
	caller  *auth.Caller
	request proto.Message // nil if the operation has none
	client  Client
}

func (r *Recorder) newEvent(ctx context.Context, procedure string, called operation, message proto.Message) *event {
	e := &event{Recorder: r, caller: auth.CallerFrom(ctx), called: called, request: message, client: r.client(ctx)}
	e.row.At, e.row.RequestID = r.deps.Now(), e.client.RequestID
	e.row.Operation = strings.TrimPrefix(procedure, "/plaza.v1.")
	return e
}

// valueTargets is how many targets the values of which are kept.
const valueTargets = 20

// record adds the event to a transaction if the caller has exercised a privilege.
func (e *event) record(head, tail *store.Tx) {
	row, source, privileged := e.actor()
	if !privileged {
		return
	}
	subject := ""
	if row.ActorKind == network.ActorUser {
		subject = row.Actor
	}
	row.ID = e.deps.NewID(head.Home())
	targets := e.allTargets()
	head.InsertAuditEvent(row, targets, source, subject)
	if e.called.reads {
		return
	}
	valued := targets[:min(len(targets), valueTargets)]
	head.InsertAuditValues(row.ID, network.AuditBefore, valued)
	tail.InsertAuditValues(row.ID, network.AuditAfter, valued)
}

// actor returns the row with the actor, and the origin of the request. privileged reports whether the caller has exercised
// a privilege.
func (e *event) actor() (row network.AuditEvent, source network.AuditSource, privileged bool) {
	row, source = e.row, network.AuditSource{Address: e.client.Address, UserAgent: e.client.UserAgent}
	switch signIn, privilege := e.caller.SignIn(), e.caller.Privilege(); {
	case e.caller.Kind == auth.Admin:
		row.ActorKind, row.Actor = network.ActorAdministrator, e.caller.Name
	case privilege != nil:
		row.ActorKind, row.Actor, row.Roles, row.Permission = network.ActorUser, e.caller.UserID, privilege.Roles, string(privilege.Permission)
		source.UserID = e.caller.PublicID
	case signIn != nil:
		row.ActorKind, row.Actor, row.Roles, row.KeyID = network.ActorUser, signIn.UserID, signIn.Roles, e.caller.KeyID
		source.UserID = signIn.PublicID
	case e.called.Caller == plazav1.Access_CALLER_SERVER_KEY:
		row.ActorKind, row.Actor, row.KeyID = network.ActorServerKey, e.caller.KeyID, e.caller.KeyID
	case e.called.Caller == plazav1.Access_CALLER_MEDIA_SERVER:
		row.ActorKind = network.ActorMediaServer
	default:
		return row, source, false
	}
	return row, source, true
}

// allTargets returns the targets that the request names, and those that it creates. If there are none, the operation concerns what its
// option says, or the network.
func (e *event) allTargets() []network.AuditTarget {
	var all []network.AuditTarget
	if e.request != nil {
		all = e.targetsOf(e.request.ProtoReflect())
	}
	for _, created := range e.caller.Created() {
		all = append(all, network.AuditTarget{Type: created.Type, ID: created.ID})
	}
	switch {
	case len(all) > 0:
	case e.called.Target == "user":
		all = append(all, network.AuditTarget{Type: "user", ID: e.caller.UserID})
	case e.called.Target == network.AuditSettings:
		all = append(all, network.AuditTarget{Type: network.AuditSettings, ID: "network"})
	default:
		all = append(all, network.AuditTarget{Type: "network", ID: e.deps.NetworkID})
	}
	all = service.Distinct(all)
	return all[:min(len(all), maxTargets)]
}

// store stores the event of an operation that changes nothing else, in the region of this server. ctx is that of the
// record.
func (e *event) store(ctx context.Context) error {
	if e.request != nil { // an operation that changes nothing may not have looked up its users
		_, err := e.deps.Directory.Resolve(ctx, textsOf(e.request.ProtoReflect(), "user_id")...)
		if err != nil {
			return err
		}
	}
	return e.deps.Store.NewTx(e.deps.Region).Commit(ctx)
}
