// Package authentication implements AuthenticationService: it issues tokens that an app's server requests for its
// users to sign in.
package authentication

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements AuthenticationService.
type Service struct{ issuer *auth.Issuer }

// New returns the service.
func New(issuer *auth.Issuer) *Service { return &Service{issuer: issuer} }

// CreateToken returns an authToken for a user id. It requires a server key in the header. The user need not exist yet.
func (s *Service) CreateToken(_ context.Context, req *plazav1.CreateTokenRequest) (*plazav1.CreateTokenResponse, error) {
	token, err := s.issuer.MintAuthToken(req.GetUserId())
	if err != nil {
		return nil, fail.Unexpected(err)
	}
	return &plazav1.CreateTokenResponse{Token: token}, nil
}
