package bare

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// verifier verifies access tokens of the platform.
type verifier struct {
	keys   map[string]ed25519.PublicKey // by kid
	parser *jwt.Parser
}

type claims struct {
	jwt.RegisteredClaims
	SessionID string `json:"sid"`
}

func openVerifier(path, networkID string) (*verifier, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Keys []struct {
			Kid  string `json:"kid"`
			Seed string `json:"seed"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	keys := map[string]ed25519.PublicKey{}
	for _, key := range file.Keys {
		seed, err := base64.StdEncoding.DecodeString(key.Seed)
		if err != nil || len(seed) != ed25519.SeedSize {
			return nil, fmt.Errorf("%s: the seed of %s is not 32 bytes", path, key.Kid)
		}
		keys[key.Kid], _ = ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	}
	return &verifier{keys: keys, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithIssuer("plaza/"+networkID), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
	)}, nil
}

var errNoKey = errors.New("no such key")

// verify returns the claims of the request's token.
func (v *verifier) verify(r *http.Request) (claims, error) {
	var c claims
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	_, err := v.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		if key := v.keys[kid]; key != nil {
			return key, nil
		}
		return nil, errNoKey
	})
	return c, err
}
