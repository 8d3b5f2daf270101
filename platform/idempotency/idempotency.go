// Package idempotency executes requests with an Idempotency-Key once.
package idempotency

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// A request with an Idempotency-Key reserves the key in a row at the home of its caller before it is executed, and stores
// its answer there afterwards. Every transaction of the request also stores, in the same commit, a mark: which attempt it
// belongs to, and the ids of the objects that it has created. If the server stops between that commit and storing the answer,
// the next attempt finds the mark and reads the answer again, see Recovery. Marks also prevent that two attempts change
// rows: the transactions of the second one fail with errAnswerLost.

// Headers of requests that may be repeated.
const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotency-Replayed"
)

// Limits of idempotency keys.
const (
	lifetime  = 24 * time.Hour
	maxKey    = 255
	maxAnswer = 8 << 10 // bytes; a larger answer is read again, so that a user cannot fill the database with answers
)

var (
	errKey        = fail.Validation("Idempotency-Key: must be 1 to 255 visible ASCII characters")
	errReuse      = fail.Validation("Idempotency-Key: was used for a different request")
	errAnswerLost = fail.Conflict().WithDetails("Idempotency-Key: the request was carried out, but its answer is not available")
)

// errInProgress is the error of a request whose key another attempt holds.
func errInProgress(until time.Duration) *fail.Error {
	e := fail.Conflict().WithDetails("Idempotency-Key: a request with this key is in progress")
	e.RetryAfter = min(max(until, time.Second), time.Minute)
	return e
}

// validKey reports whether a key is 1 to 255 visible ASCII characters.
func validKey(key string) bool {
	return len(key) >= 1 && len(key) <= maxKey && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Options configure an Executor.
type Options struct {
	Secret []byte        // of the hashes of keys
	Lock   time.Duration // how long an attempt may take
	// Services are the implementations of the services, by full name.
	Services map[string]any
	// Recoveries are those, by procedure, that the option `recovery` of an operation cannot describe.
	Recoveries map[string]Recovery
	// Fill completes answers that were read again.
	Fill   connect.Interceptor
	Sealer *seal.Sealer // of answers with secrets
	// MayStore reports whether an answer of a number of bytes may be stored for a caller. One that may not is read again.
	MayStore func(caller *auth.Caller, bytes int) bool
}

// Executor executes requests with an Idempotency-Key once. Its interceptor comes after authentication.
type Executor struct {
	*service.Deps
	Options
	operations map[string]operation // by procedure
}

// operation is an operation that takes an Idempotency-Key: one with side effects that REST calls with POST.
type operation struct {
	output   protoreflect.MessageType
	recovery Recovery
	secret   bool // whether the answer contains a secret, which is stored nowhere in clear
}

// New returns an executor. It returns an error if the option `recovery` of an operation is missing or invalid.
func New(d *service.Deps, o Options) (*Executor, error) {
	e := &Executor{Deps: d, Options: o, operations: map[string]operation{}}
	for procedure, recovery := range o.Recoveries {
		e.operations[procedure] = operation{recovery: recovery} // of an operation that is not in the proto files
	}
	var errs []error
	auth.RangeMethods(func(procedure string, method protoreflect.MethodDescriptor) {
		if isRepeatable(method) {
			errs = append(errs, e.add(procedure, method))
		}
	})
	return e, errors.Join(errs...)
}

// add adds an operation that takes an Idempotency-Key.
func (e *Executor) add(procedure string, method protoreflect.MethodDescriptor) error {
	output, err := protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())
	if err != nil {
		return err
	}
	recovery, ok := e.Recoveries[procedure]
	if !ok {
		recovery, err = recoveryOf(e.Deps, method, output, e.Services[string(method.Parent().FullName())])
	}
	option, _ := proto.GetExtension(method.Options(), plazav1.E_Recovery).(*plazav1.Recovery)
	e.operations[procedure] = operation{output, recovery, option.GetSecret()}
	return err
}

func isRepeatable(method protoreflect.MethodDescriptor) bool {
	options, _ := method.Options().(*descriptorpb.MethodOptions)
	rule, _ := proto.GetExtension(options, annotations.E_Http).(*annotations.HttpRule)
	for _, binding := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		if binding.GetPost() != "" {
			return options.GetIdempotencyLevel() != descriptorpb.MethodOptions_NO_SIDE_EFFECTS
		}
	}
	return false
}

// Intercept is the interceptor of operations.
func (e *Executor) Intercept(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		keys := request.Header()[http.CanonicalHeaderKey(headerKey)]
		operation, repeatable := e.operations[request.Spec().Procedure]
		caller := auth.CallerFrom(ctx)
		switch {
		case len(keys) == 0, !repeatable, caller.Kind == auth.Anonymous:
			return next(ctx, request)
		case len(keys) != 1 || !validKey(keys[0]):
			return nil, errKey
		}
		message, ok := request.Any().(proto.Message)
		if !ok {
			return nil, fail.Unexpected(errors.New("a request is not a message"))
		}
		execute := func(ctx context.Context) (connect.AnyResponse, error) { return next(ctx, request) }
		return e.answer(ctx, keys[0], call{request.Spec().Procedure, message, operation.output, execute})
	}
}

// call is a request that takes an Idempotency-Key.
type call struct {
	procedure string
	message   proto.Message // identifies the request
	output    protoreflect.MessageType
	execute   func(context.Context) (connect.AnyResponse, error)
}

// newAttempt returns a new attempt of a request, and the home of its key. An administrator has no home: the key selects one.
func (e *Executor) newAttempt(caller *auth.Caller, key string, c call) (region.Code, network.Idempotency, error) {
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.message)
	if err != nil {
		return "", network.Idempotency{}, fail.Unexpected(err)
	}
	hash := sha256.Sum256(append([]byte(c.procedure+" "), content...))
	mac := hmac.New(sha256.New, e.Secret)
	mac.Write([]byte("idempotency key " + caller.Kind.String() + " " + caller.UserID + " " + caller.Name + "\x00" + key))
	id := mac.Sum(nil)
	home := caller.Home
	if caller.Kind == auth.Admin {
		home = region.All()[int(id[0])%len(region.All())]
	}
	now := e.Now()
	return home, network.Idempotency{
		Key: id, Request: hash[:], Attempt: e.NewID(home), LockedUntil: now.Add(e.Lock), ExpiresAt: now.Add(lifetime),
	}, nil
}

// answer executes a request with a valid key, or returns the answer of an earlier attempt.
func (e *Executor) answer(ctx context.Context, key string, c call) (connect.AnyResponse, error) {
	home, wanted, err := e.newAttempt(auth.CallerFrom(ctx), key, c)
	if err != nil {
		return nil, err
	}
	var before, stored *network.Idempotency
	tx := e.Store.NewTx(home)
	tx.ReserveIdempotency(wanted, e.Now(), &before, &stored)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	switch {
	case stored == nil:
		return nil, errInProgress(0)
	case stored.Attempt == wanted.Attempt:
		return (&attempt{Executor: e, Idempotency: wanted, home: home, call: c}).run(ctx, before != nil)
	case !bytes.Equal(stored.Request, wanted.Request):
		return nil, errReuse
	case stored.Answer != nil:
		return e.replay(ctx, *stored, c)
	}
	return nil, errInProgress(stored.LockedUntil.Sub(e.Now()))
}

// replay returns a stored answer to a caller who may still receive it.
func (e *Executor) replay(ctx context.Context, stored network.Idempotency, c call) (connect.AnyResponse, error) {
	if err := e.NewRequest(ctx).Run(ctx); err != nil {
		return nil, err
	}
	notePermission(ctx, c.procedure)
	answer, err := e.unsealed(stored, c.procedure)
	if err != nil {
		return nil, fail.Unexpected(err)
	}
	message := c.output.New().Interface()
	if err := proto.Unmarshal(answer, message); err != nil {
		return nil, fail.Unexpected(err)
	}
	return newReplayed(message), nil
}

// sealed returns an answer as it is stored: encrypted for its key if it contains a secret.
func (e *Executor) sealed(key, answer []byte, procedure string) []byte {
	if !e.operations[procedure].secret {
		return answer
	}
	return e.Sealer.Seal(string(key), string(answer))
}

func (e *Executor) unsealed(stored network.Idempotency, procedure string) ([]byte, error) {
	if !e.operations[procedure].secret {
		return stored.Answer, nil
	}
	answer, err := e.Sealer.Open(string(stored.Key), stored.Answer)
	return []byte(answer), err
}

// notePermission decides about the permission that an operation requires, which the attempt that succeeded had.
func notePermission(ctx context.Context, procedure string) {
	if access, _ := auth.AccessOf(procedure); access.Permission != "" {
		_ = auth.Require(auth.CallerFrom(ctx), access.Permission, auth.Scope{})
	}
}

// replayed is a response with a message of any type.
type replayed struct {
	connect.AnyResponse
	message proto.Message
}

func newReplayed(message proto.Message) replayed {
	r := replayed{AnyResponse: connect.NewResponse(&emptypb.Empty{}), message: message}
	r.Header().Set(headerReplayed, "true")
	return r
}

// Any returns the message.
func (r replayed) Any() any { return r.message }

// storableAnswer returns the bytes of a response, and false if they are too many. An empty message has bytes too: they are
// empty, but not nil.
func storableAnswer(response connect.AnyResponse) ([]byte, bool) {
	message, _ := response.Any().(proto.Message)
	answer, err := proto.MarshalOptions{}.MarshalAppend([]byte{}, message)
	return answer, err == nil && len(answer) <= maxAnswer
}

// Sweep returns the job that removes expired keys and marks at an interval.
func (e *Executor) Sweep(every time.Duration) jobs.Job {
	drain := func(ctx context.Context, home region.Code, _ int64) (bool, error) {
		var keys, marks int64
		w := e.Store.NewTx(home)
		w.SweepIdempotency(e.Now(), &keys, &marks)
		err := w.Commit(ctx)
		return keys+marks > 0, err
	}
	return jobs.Job{Name: "idempotency sweep", Lanes: 1, Every: every, Log: e.Log, Drain: drain}
}
