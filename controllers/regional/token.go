package regional

import (
	"errors"
	"fmt"
	"time"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/platform/auth"
)

const (
	// tokenLifetime is enough for a pass over all regions.
	tokenLifetime = 2 * time.Minute
	// tokenName is whom the platform sees: its logs name the administrator of a change.
	tokenName = "plaza-operator"
)

// ErrSigningKeys says that signing-keys.json cannot sign a token.
var ErrSigningKeys = errors.New("the signing keys are broken, or over")

// AdminToken makes a short-lived administrator's token of a network from its signing-keys.json.
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

// CheckSigningKeys says whether signing-keys.json can sign tokens. The token that it tries is of no network.
func CheckSigningKeys(signingKeys keyring.Secret, now time.Time) error {
	_, err := AdminToken(signingKeys, "000000000000000000000000", now)
	return err
}
