package platformclient

import (
	"errors"
	"fmt"
	"time"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/platform/auth"
)

const (
	// tokenLifetime is long enough for pushes to all regions.
	tokenLifetime = 2 * time.Minute
	// tokenName identifies the operator as the administrator in the platform's logs.
	tokenName = "plaza-operator"
)

// ErrSigningKeys is returned if signing-keys.json cannot sign a token.
var ErrSigningKeys = errors.New("the signing keys are invalid or expired")

// AdminToken returns a short-lived administrator's token, signed with the network's signing-keys.json.
func AdminToken(signingKeys keyring.Secret, networkID string, now time.Time) (keyring.Secret, error) {
	ring, err := auth.ParseKeyring([]byte(signingKeys.Reveal()))
	if err != nil {
		return keyring.Secret{}, fmt.Errorf("%w: %w", ErrSigningKeys, err) // quotes nothing of the file
	}
	issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(func() time.Time { return now }))
	token, _, err := issuer.MintAdmin(tokenName, tokenLifetime)
	if err != nil {
		return keyring.Secret{}, fmt.Errorf("%w: %w", ErrSigningKeys, err)
	}
	return keyring.NewSecret(token), nil
}

// CheckSigningKeys reports whether signing-keys.json can sign tokens. It signs one for a network that does not exist.
func CheckSigningKeys(signingKeys keyring.Secret, now time.Time) error {
	_, err := AdminToken(signingKeys, "000000000000000000000000", now)
	return err
}
