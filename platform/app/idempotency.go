package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
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
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/webhook"
)

// A request with an Idempotency-Key reserves the key in a row at the home of its caller before it is executed, and stores
// its answer there afterwards. Every transaction of the request also stores, in the same commit, a mark: which attempt it
// belongs to, and the ids of the objects that it has created. If the server stops between that commit and storing the answer,
// the next attempt finds the mark and reads the answer again, see recovery. Marks also prevent that two attempts change
// rows: the transactions of the second one fail with errAnswerLost.

// Headers of requests that may be repeated.
const (
	headerIdempotencyKey      = "Idempotency-Key"
	headerIdempotencyReplayed = "Idempotency-Replayed"
)

// Limits of idempotency keys.
const (
	idempotencyLifetime  = 24 * time.Hour
	maxIdempotencyKey    = 255
	maxIdempotencyAnswer = 8 << 10 // bytes; a larger answer is read again, so that a user cannot fill the database with answers
)

var (
	errIdempotencyKey   = fail.Validation("Idempotency-Key: must be 1 to 255 visible ASCII characters")
	errIdempotencyReuse = fail.Validation("Idempotency-Key: was used for a different request")
	errAnswerLost       = fail.Conflict().WithDetails("Idempotency-Key: the request was carried out, but its answer is not available")
)

// errInProgress is the error of a request whose key another attempt holds.
func errInProgress(until time.Duration) *fail.Error {
	e := fail.Conflict().WithDetails("Idempotency-Key: a request with this key is in progress")
	e.RetryAfter = min(max(until, time.Second), time.Minute)
	return e
}

// validIdempotencyKey reports whether a key is 1 to 255 visible ASCII characters.
func validIdempotencyKey(key string) bool {
	return len(key) >= 1 && len(key) <= maxIdempotencyKey && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

// idempotency executes requests with an Idempotency-Key once. Its interceptor comes after authentication.
type idempotency struct {
	*service.Deps
	secret  []byte        // of the hashes of keys
	lock    time.Duration // how long an attempt may take
	outputs map[string]protoreflect.MessageType
	// recoveries are how the answers of the operations are read again, by procedure. fill completes them.
	recoveries map[string]recovery
	fill       connect.Interceptor
	sealer     *webhook.Sealer // of answers with secrets
	// mayStore reports whether an answer of a number of bytes may be stored for a caller. One that may not is read again.
	mayStore func(caller *auth.Caller, bytes int) bool
}

// secretAnswers are the operations whose answers contain a secret, which is stored nowhere in clear.
var secretAnswers = []string{procedurePrefix + "WebhookService/CreateWebhook"}

func (d *dependencies) idempotency(shared *service.Deps, recoveries map[string]recovery, fill connect.Interceptor, sealer *webhook.Sealer, limits *edge.RateLimits) *idempotency {
	return &idempotency{
		Deps: shared, secret: []byte(d.cfg.DirectoryKey.Reveal()), lock: 2*d.cfg.RequestTimeout.Std() + time.Second, outputs: repeatableOutputs(),
		recoveries: recoveries, fill: fill, sealer: sealer, mayStore: limits.MayStoreAnswer,
	}
}

// repeatableOutputs returns the response types of the operations that take an Idempotency-Key, by procedure: those with
// side effects that REST calls with POST.
func repeatableOutputs() map[string]protoreflect.MessageType {
	outputs := map[string]protoreflect.MessageType{}
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				method := methods.Get(j)
				output, err := protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())
				if err == nil && isRepeatable(method) {
					outputs["/"+string(method.Parent().FullName())+"/"+string(method.Name())] = output
				}
			}
		}
		return true
	})
	return outputs
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

func (i *idempotency) intercept(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		keys := request.Header()[http.CanonicalHeaderKey(headerIdempotencyKey)]
		output, repeatable := i.outputs[request.Spec().Procedure]
		caller := auth.CallerFrom(ctx)
		switch {
		case len(keys) == 0, !repeatable, caller.Kind == auth.Anonymous:
			return next(ctx, request)
		case len(keys) != 1 || !validIdempotencyKey(keys[0]):
			return nil, errIdempotencyKey
		}
		return i.answer(ctx, keys[0], request, output, next)
	}
}

// answer executes a request with a valid key, or returns the answer of an earlier attempt.
func (i *idempotency) answer(ctx context.Context, key string, request connect.AnyRequest, output protoreflect.MessageType, next connect.UnaryFunc) (connect.AnyResponse, error) {
	home, wanted, err := i.newAttempt(auth.CallerFrom(ctx), key, request)
	if err != nil {
		return nil, err
	}
	return i.once(ctx, home, wanted, request, output, next)
}

// newAttempt returns a new attempt of a request, and the home of its key. An administrator has no home: the key selects one.
func (i *idempotency) newAttempt(caller *auth.Caller, key string, request connect.AnyRequest) (region.Code, store.Idempotency, error) {
	message, ok := request.Any().(proto.Message)
	if !ok {
		return "", store.Idempotency{}, fail.Unexpected(errors.New("a request is not a message"))
	}
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return "", store.Idempotency{}, fail.Unexpected(err)
	}
	hash := sha256.Sum256(append([]byte(request.Spec().Procedure+" "), content...))
	mac := hmac.New(sha256.New, i.secret)
	mac.Write([]byte("idempotency key " + caller.Kind.String() + " " + caller.UserID + " " + caller.Name + "\x00" + key))
	id := mac.Sum(nil)
	home := caller.Home
	if caller.Kind == auth.Admin {
		home = region.All()[int(id[0])%len(region.All())]
	}
	now := i.Now()
	return home, store.Idempotency{
		Key: id, Request: hash[:], Attempt: i.NewID(home), LockedUntil: now.Add(i.lock), ExpiresAt: now.Add(idempotencyLifetime),
	}, nil
}

// once executes a request, or returns the answer of an earlier attempt.
func (i *idempotency) once(ctx context.Context, home region.Code, wanted store.Idempotency, request connect.AnyRequest, output protoreflect.MessageType, next connect.UnaryFunc) (connect.AnyResponse, error) {
	var before, stored *store.Idempotency
	tx := i.Store.NewTx(home)
	tx.ReserveIdempotency(wanted, i.Now(), &before, &stored)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	switch {
	case stored == nil:
		return nil, errInProgress(0)
	case stored.Attempt == wanted.Attempt:
		return (&attempt{idempotency: i, Idempotency: wanted, home: home, request: request, next: next}).run(ctx, before != nil)
	case !bytes.Equal(stored.Request, wanted.Request):
		return nil, errIdempotencyReuse
	case stored.Answer != nil:
		return i.replay(ctx, *stored, request.Spec().Procedure, output)
	}
	return nil, errInProgress(stored.LockedUntil.Sub(i.Now()))
}

// replay returns a stored answer to a caller who may still receive it.
func (i *idempotency) replay(ctx context.Context, stored store.Idempotency, procedure string, output protoreflect.MessageType) (connect.AnyResponse, error) {
	if err := i.NewRequest(ctx).Run(ctx); err != nil {
		return nil, err
	}
	notePermission(ctx, procedure)
	answer, err := i.unsealed(stored, procedure)
	if err != nil {
		return nil, fail.Unexpected(err)
	}
	message := output.New().Interface()
	if err := proto.Unmarshal(answer, message); err != nil {
		return nil, fail.Unexpected(err)
	}
	return newReplayed(message), nil
}

// sealed returns an answer as it is stored: encrypted for its key if it contains a secret.
func (i *idempotency) sealed(key, answer []byte, procedure string) []byte {
	if !slices.Contains(secretAnswers, procedure) {
		return answer
	}
	return i.sealer.Seal(string(key), string(answer))
}

func (i *idempotency) unsealed(stored store.Idempotency, procedure string) ([]byte, error) {
	if !slices.Contains(secretAnswers, procedure) {
		return stored.Answer, nil
	}
	answer, err := i.sealer.Open(string(stored.Key), stored.Answer)
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
	r.Header().Set(headerIdempotencyReplayed, "true")
	return r
}

// Any returns the message.
func (r replayed) Any() any { return r.message }

// storableAnswer returns the bytes of a response, and false if they are too many. An empty message has bytes too: they are
// empty, but not nil.
func storableAnswer(response connect.AnyResponse) ([]byte, bool) {
	message, _ := response.Any().(proto.Message)
	answer, err := proto.MarshalOptions{}.MarshalAppend([]byte{}, message)
	return answer, err == nil && len(answer) <= maxIdempotencyAnswer
}

// sweepIdempotency returns the job that removes expired keys and marks.
func (d *dependencies) sweepIdempotency(shared *service.Deps) jobs.Job {
	return jobs.Job{Name: "idempotency sweep", Lanes: 1, Every: sweepEvery, Log: d.log, Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
		var keys, marks int64
		w := shared.Store.NewTx(home)
		w.SweepIdempotency(shared.Now(), &keys, &marks)
		err := w.Commit(ctx)
		return keys+marks > 0, err
	}}
}
