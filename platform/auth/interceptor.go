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

// Headers that carry keys. Access tokens and admin tokens are in Authorization.
const (
	HeaderServerKey = "X-Server-Key"
	HeaderAPIKey    = "X-Api-Key"
	HeaderMediaKey  = "X-Media-Key"
)

// headerPreserveEditedAt is the header by which administrators edit content without changing its editedAt.
const headerPreserveEditedAt = "Preserve-Edited-At"

// Causes of rejected calls and of programming errors, for the log.
var (
	ErrNoAccessOption = errors.New("the operation has no valid access option")
	ErrWrongKey       = errors.New("the key is missing, wrong or expired")
	ErrUndecided      = errors.New("the operation declares a permission but its handler did not check one")
)

// interceptor admits a call to its handler according to the operation's access option:
//
//	CALLER_PUBLIC              everyone; credentials are ignored
//	CALLER_SERVER_KEY          a valid key in X-Server-Key, of this region or of one that is evacuated to it
//	CALLER_API_KEY             a valid key in X-Api-Key
//	CALLER_MEDIA_SERVER        the media server's secret in X-Media-Key; no one if no secret is configured
//	CALLER_USER                an access token or an admin token; of guests if Access.Guests
//	CALLER_ADMIN               an admin token
//	CALLER_ADMIN, permission   an admin token, or the access token of a user to whom a network role grants the
//	                           permission (checked by Confirm)
//	missing or unknown option  no one
//
// It also checks after the handler: a success becomes an unexpected error if the handler did not confirm its caller or,
// for an operation that declares a permission, did not ask the policy.
type interceptor struct {
	issuer     *Issuer
	serverKeys *KeySet
	apiKeys    *KeySet
	evacuation *Evacuation
	mediaKey   string
	accessOf   func(procedure string) (Access, bool)
}

// InterceptorOption configures an interceptor.
type InterceptorOption func(*interceptor)

// WithMediaKey sets the secret that identifies the media server. An empty secret, the default, matches no request.
func WithMediaKey(secret string) InterceptorOption {
	return func(i *interceptor) { i.mediaKey = secret }
}

// WithEvacuation also admits the server keys of evacuated regions.
func WithEvacuation(e *Evacuation) InterceptorOption {
	return func(i *interceptor) { i.evacuation = e }
}

// NewInterceptor returns the interceptor of a server's handlers. It returns errors of package fail; the interceptor
// that converts them for the wire must come before it.
func NewInterceptor(issuer *Issuer, serverKeys, apiKeys *KeySet, options ...InterceptorOption) connect.Interceptor {
	i := &interceptor{issuer: issuer, serverKeys: serverKeys, apiKeys: apiKeys, accessOf: AccessOf}
	for _, option := range options {
		option(i)
	}
	return i
}

// WrapUnary checks calls to unary handlers. Client calls pass unchanged.
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
		if err := access.checkHandled(caller); err != nil {
			return nil, err
		}
		return response, nil
	}
}

// WrapStreamingClient returns next unchanged.
func (i *interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler checks calls to streaming handlers. A handler must confirm its caller before it sends anything.
func (i *interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		access, caller, err := i.admit(conn.Spec().Procedure, conn.RequestHeader())
		if err != nil {
			return err
		}
		if err := next(WithCaller(ctx, caller), conn); err != nil {
			return err
		}
		return access.checkHandled(caller)
	}
}

// admit identifies the caller and rejects callers that the operation does not admit.
func (i *interceptor) admit(procedure string, header http.Header) (Access, *Caller, error) {
	access, ok := i.accessOf(procedure)
	if !ok {
		return Access{}, nil, fail.NotAllowed().Because(fmt.Errorf("%w: %s", ErrNoAccessOption, procedure))
	}
	caller, err := i.identify(access, header)
	if err != nil {
		return Access{}, nil, err
	}
	if caller.Guest != NoGuest && !access.Guests {
		return Access{}, nil, caller.Guest.denied()
	}
	caller.KeepsEditedAt = caller.Kind == Admin && header.Get(headerPreserveEditedAt) == "true"
	return access, caller, nil
}

func (i *interceptor) identify(access Access, header http.Header) (*Caller, error) {
	switch access.Caller {
	case plazav1.Access_CALLER_PUBLIC:
		return &Caller{}, nil
	case plazav1.Access_CALLER_SERVER_KEY:
		return byKey(i.checkServerKey, header, HeaderServerKey)
	case plazav1.Access_CALLER_API_KEY:
		return byKey(i.apiKeys.Check, header, HeaderAPIKey)
	case plazav1.Access_CALLER_MEDIA_SERVER:
		return bySecret(i.mediaKey, header, HeaderMediaKey)
	case plazav1.Access_CALLER_USER:
		return byToken(i.issuer, header)
	case plazav1.Access_CALLER_ADMIN:
		return i.adminByToken(access, header)
	}
	return nil, fail.NotAllowed().Because(ErrNoAccessOption)
}

// Bearer returns the caller identified by the token in the Authorization header, not yet confirmed. It serves endpoints
// that are not operations and therefore do not pass the interceptor, and refuses guests.
func Bearer(issuer *Issuer, header http.Header) (*Caller, error) {
	claims, err := BearerClaims(issuer, header)
	if err != nil {
		return nil, err
	}
	return CallerOf(claims), nil
}

// BearerClaims returns the claims of the token in the Authorization header. Like Bearer, it refuses guests.
func BearerClaims(issuer *Issuer, header http.Header) (Claims, error) {
	claims, err := claimsOf(issuer, header)
	if err == nil && claims.Guest != NoGuest {
		return Claims{}, claims.Guest.denied()
	}
	return claims, err
}

// byToken is Bearer for operations, which may admit guests.
func byToken(issuer *Issuer, header http.Header) (*Caller, error) {
	claims, err := claimsOf(issuer, header)
	if err != nil {
		return nil, err
	}
	return CallerOf(claims), nil
}

func claimsOf(issuer *Issuer, header http.Header) (Claims, error) {
	token, ok := bearer(header)
	if !ok {
		return Claims{}, fail.Unauthorized().Because(ErrNoCredentials)
	}
	return issuer.Verify(token)
}

// Identify returns ctx with the caller of the access token or admin token in header, like Bearer.
func (i *Issuer) Identify(ctx context.Context, header http.Header) (context.Context, error) {
	caller, err := Bearer(i, header)
	if err != nil {
		return nil, err
	}
	return WithCaller(ctx, caller), nil
}

func (i *interceptor) adminByToken(access Access, header http.Header) (*Caller, error) {
	caller, err := byToken(i.issuer, header)
	switch {
	case err != nil:
		return nil, err
	case caller.Kind == Admin, caller.Guest != NoGuest: // admit refuses guests
		return caller, nil
	case access.Permission == "":
		return nil, fail.NotAllowed()
	}
	caller.required = access.Permission
	return caller, nil
}

// checkHandled returns an error unless a successful handler confirmed the caller and checked the declared permission.
func (a Access) checkHandled(caller *Caller) error {
	switch {
	case caller.Kind != User:
		return nil
	case !caller.Confirmed():
		return fail.Unexpected(ErrUnconfirmed)
	case a.Permission != "" && caller.required == "" && !caller.decided.Load():
		return fail.Unexpected(ErrUndecided)
	}
	return nil
}

func (i *interceptor) checkServerKey(presented string) (id string, ok bool) {
	if id, ok = i.serverKeys.Check(presented); ok {
		return id, true
	}
	return i.evacuation.Check(presented)
}

func byKey(check func(presented string) (id string, ok bool), header http.Header, name string) (*Caller, error) {
	if values := header.Values(name); len(values) == 1 {
		if id, ok := check(values[0]); ok {
			return &Caller{KeyID: id}, nil
		}
	}
	return nil, fail.Unauthorized().Because(ErrWrongKey)
}

// bySecret admits callers that present secret. The comparison takes constant time and does not reveal its length.
func bySecret(secret string, header http.Header, name string) (*Caller, error) {
	if values := header.Values(name); secret != "" && len(values) == 1 {
		want, got := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(values[0]))
		if subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
			return &Caller{}, nil
		}
	}
	return nil, fail.Unauthorized().Because(ErrWrongKey)
}

// bearer returns the token in the Authorization header, which must occur once.
func bearer(header http.Header) (string, bool) {
	values := header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}
