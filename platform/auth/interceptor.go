package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Headers that carry keys. The access token is in Authorization.
const (
	HeaderServerKey = "X-Server-Key"
	HeaderAPIKey    = "X-Api-Key" //nolint:gosec // the header's name, not a key
	HeaderMediaKey  = "X-Media-Key"
)

// headerPreserveEditedAt is the header by which administrators edit content without changing its editedAt.
const headerPreserveEditedAt = "Preserve-Edited-At"

// Causes of a refusal or of a fault, for the log.
var (
	ErrNoAccessOption = errors.New("the operation has no access option")
	ErrWrongKey       = errors.New("the key is missing, wrong or no longer valid")
	ErrUndecided      = errors.New("the operation names a permission and the policy was not asked")
)

// interceptor lets a call through to its handler by the operation's access option:
//
//	CALLER_PUBLIC              anybody; credentials are not looked at
//	CALLER_SERVER_KEY          a valid key in x-server-key
//	CALLER_API_KEY             a valid key in X-API-Key
//	CALLER_MEDIA_SERVER        the media server's secret in x-media-key; nobody where none is configured
//	CALLER_USER                an access token or an admin token
//	CALLER_ADMIN               an admin token
//	CALLER_ADMIN, permission   an admin token, or an access token of a user for whom Confirm will insist that a network
//	                           role grants the permission
//	no option, unknown         nobody
//
// After the handler it is closed once more: a success for a user that the handler did not confirm, or, where the
// operation names a permission, without a question to the policy, becomes an unexpected error.
type interceptor struct {
	issuer     *Issuer
	serverKeys *KeySet
	apiKeys    *KeySet
	mediaKey   string
	accessOf   func(procedure string) (Access, bool)
}

// InterceptorOption changes an interceptor.
type InterceptorOption func(*interceptor)

// WithMediaKey sets the secret by which the media server is known. Without one, and with an empty one, nobody is it.
func WithMediaKey(secret string) InterceptorOption {
	return func(i *interceptor) { i.mediaKey = secret }
}

// NewInterceptor makes the interceptor of a server's handlers. Its errors are those of package fail: the interceptor
// that puts them on the wire belongs before it.
func NewInterceptor(issuer *Issuer, serverKeys, apiKeys *KeySet, options ...InterceptorOption) connect.Interceptor {
	i := &interceptor{issuer: issuer, serverKeys: serverKeys, apiKeys: apiKeys, accessOf: AccessOf}
	for _, option := range options {
		option(i)
	}
	return i
}

// WrapUnary guards unary handlers; clients pass.
func (i *interceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		if request.Spec().IsClient {
			return next(ctx, request)
		}
		access, caller, err := i.admit(request.Spec().Procedure, request.Header())
		if err != nil {
			return nil, err
		}
		response, err := next(WithCaller(ctx, caller), request)
		if err != nil {
			return nil, err
		}
		if err := access.settled(caller); err != nil {
			return nil, err
		}
		return response, nil
	}
}

// WrapStreamingClient leaves clients alone.
func (i *interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler guards streams. What a stream has sent is sent: a handler confirms its caller before.
func (i *interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		access, caller, err := i.admit(conn.Spec().Procedure, conn.RequestHeader())
		if err != nil {
			return err
		}
		if err := next(WithCaller(ctx, caller), conn); err != nil {
			return err
		}
		return access.settled(caller)
	}
}

// admit finds out who calls, and refuses whom the operation is closed to.
func (i *interceptor) admit(procedure string, header http.Header) (Access, *Caller, error) {
	access, ok := i.accessOf(procedure)
	if !ok {
		return Access{}, nil, fail.NotAllowed().Because(fmt.Errorf("%w: %s", ErrNoAccessOption, procedure))
	}
	caller, err := i.identify(access, header)
	if err != nil {
		return Access{}, nil, err
	}
	caller.KeepsEditedAt = caller.Kind == Admin && header.Get(headerPreserveEditedAt) == "true"
	return access, caller, nil
}

func (i *interceptor) identify(access Access, header http.Header) (*Caller, error) {
	switch access.Caller {
	case plazav1.Access_CALLER_PUBLIC:
		return &Caller{}, nil
	case plazav1.Access_CALLER_SERVER_KEY:
		return byKey(i.serverKeys, header, HeaderServerKey)
	case plazav1.Access_CALLER_API_KEY:
		return byKey(i.apiKeys, header, HeaderAPIKey)
	case plazav1.Access_CALLER_MEDIA_SERVER:
		return bySecret(i.mediaKey, header, HeaderMediaKey)
	case plazav1.Access_CALLER_USER:
		return i.byToken(header)
	case plazav1.Access_CALLER_ADMIN:
		return i.adminByToken(access, header)
	}
	return nil, fail.NotAllowed().Because(ErrNoAccessOption)
}

func (i *interceptor) byToken(header http.Header) (*Caller, error) { return Bearer(i.issuer, header) }

// Bearer returns the caller of the token in the Authorization header, not yet confirmed: for what is no operation, and
// passes no interceptor.
func Bearer(issuer *Issuer, header http.Header) (*Caller, error) {
	token, ok := bearer(header)
	if !ok {
		return nil, fail.Unauthorized().Because(ErrNoCredentials)
	}
	claims, err := issuer.Verify(token)
	if err != nil {
		return nil, err
	}
	return CallerOf(claims), nil
}

func (i *interceptor) adminByToken(access Access, header http.Header) (*Caller, error) {
	caller, err := i.byToken(header)
	switch {
	case err != nil:
		return nil, err
	case caller.Kind == Admin:
		return caller, nil
	case access.Permission == "":
		return nil, fail.NotAllowed()
	}
	caller.needs = access.Permission
	return caller, nil
}

// settled is asked after a success: was the caller confirmed, and did somebody decide?
func (a Access) settled(caller *Caller) error {
	switch {
	case caller.Kind != User:
		return nil
	case !caller.Confirmed():
		return fail.Unexpected(ErrUnconfirmed)
	case a.Permission != "" && caller.needs == "" && !caller.decided.Load():
		return fail.Unexpected(ErrUndecided)
	}
	return nil
}

func byKey(keys *KeySet, header http.Header, name string) (*Caller, error) {
	values := header.Values(name)
	if len(values) != 1 {
		return nil, fail.Unauthorized().Because(ErrWrongKey)
	}
	id, ok := keys.Check(values[0])
	if !ok {
		return nil, fail.Unauthorized().Because(ErrWrongKey)
	}
	return &Caller{KeyID: id}, nil
}

// bySecret admits whoever holds a secret; its time says nothing of the secret, its length included.
func bySecret(secret string, header http.Header, name string) (*Caller, error) {
	values := header.Values(name)
	if secret == "" || len(values) != 1 {
		return nil, fail.Unauthorized().Because(ErrWrongKey)
	}
	want, got := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(values[0]))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return nil, fail.Unauthorized().Because(ErrWrongKey)
	}
	return &Caller{}, nil
}

// bearer returns the token of the one Authorization header.
func bearer(header http.Header) (string, bool) {
	values := header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}
