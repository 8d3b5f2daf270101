package auth

import (
	"context"
	"net/http"

	"github.com/plaza-social/plaza/platform/fail"
)

// Authenticator finds out who makes an HTTP request that is no call of an operation, such as an upload: its body is a
// stream, and the interceptor never sees it.
type Authenticator struct{ issuer *Issuer }

// NewAuthenticator makes an authenticator of the tokens that issuer makes.
func NewAuthenticator(issuer *Issuer) *Authenticator { return &Authenticator{issuer: issuer} }

// Identify returns ctx with the caller whose access token or admin token is in header, not yet confirmed, and 400100 where
// there is none or it does not hold.
func (a *Authenticator) Identify(ctx context.Context, header http.Header) (context.Context, error) {
	token, ok := bearer(header)
	if !ok {
		return nil, fail.Unauthorized().Because(ErrNoCredentials)
	}
	claims, err := a.issuer.Verify(token)
	if err != nil {
		return nil, err
	}
	return WithCaller(ctx, CallerOf(claims)), nil
}
