package bare

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// verifier verifies access tokens of the platform.
type verifier struct {
	key    ed25519.PublicKey
	parser *jwt.Parser
}

type claims struct {
	jwt.RegisteredClaims
	SessionID string `json:"sid"`
}

// openVerifier reads the platform's key file, which must have one key.
func openVerifier(path, networkID string) (*verifier, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Keys []struct {
			Seed []byte `json:"seed"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(content, &file); err != nil || len(file.Keys) != 1 || len(file.Keys[0].Seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s must have one key with a seed of 32 bytes", path)
	}
	key, _ := ed25519.NewKeyFromSeed(file.Keys[0].Seed).Public().(ed25519.PublicKey)
	return &verifier{key: key, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithIssuer("plaza/"+networkID), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
	)}, nil
}

// verify returns the claims of the request's token.
func (v *verifier) verify(r *http.Request) (claims, error) {
	var c claims
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	_, err := v.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return v.key, nil })
	return c, err
}
