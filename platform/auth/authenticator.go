package auth

import (
	"context"
	"net/http"
)

// Authenticator identifies the caller of an HTTP request that does not pass the interceptor, such as an upload, whose
// body is streamed.
type Authenticator struct{ issuer *Issuer }

// NewAuthenticator returns an authenticator that verifies tokens with issuer.
func NewAuthenticator(issuer *Issuer) *Authenticator { return &Authenticator{issuer: issuer} }

// Identify returns ctx with the caller of the access token or admin token in header. The caller is not yet confirmed.
// The error is 400100 if the token is missing or invalid.
func (a *Authenticator) Identify(ctx context.Context, header http.Header) (context.Context, error) {
	caller, err := Bearer(a.issuer, header)
	if err != nil {
		return nil, err
	}
	return WithCaller(ctx, caller), nil
}
