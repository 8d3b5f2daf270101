package delivery

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// secretPrefix begins the secrets that the network makes, as the Standard Webhooks specification has it: the rest is the key of
// webhook-signature in base64.
const secretPrefix = "whsec_"

// The length of secrets that others choose.
const (
	MinSecret = 24
	MaxSecret = 200
)

// NewSecret returns a random secret.
func NewSecret() string {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// CheckSecret returns an error unless a secret can sign deliveries. The error does not contain the secret.
func CheckSecret(secret string) error {
	if len(secret) < MinSecret || len(secret) > MaxSecret {
		return errors.New("the secret must have 24 to 200 characters")
	}
	if encoded, ok := strings.CutPrefix(secret, secretPrefix); ok {
		if _, err := base64.StdEncoding.DecodeString(encoded); err != nil {
			return errors.New("the secret must have base64 after whsec_")
		}
	}
	return nil
}

// sign adds the signatures of a body to the header of a request.
func sign(header http.Header, secret, id string, at time.Time, body []byte) error {
	standard, err := signer(secret)
	if err != nil {
		return err
	}
	signature, err := standard.Sign(id, at, body)
	if err != nil {
		return err
	}
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	header.Set("X-Amity-Signature", base64.StdEncoding.EncodeToString(mac(secret, body)))
	return nil
}

// signer returns what makes webhook-signature. The key of a secret without the usual prefix is the secret itself.
func signer(secret string) (*standardwebhooks.Webhook, error) {
	if strings.HasPrefix(secret, secretPrefix) {
		return standardwebhooks.NewWebhook(secret)
	}
	return standardwebhooks.NewWebhookRaw([]byte(secret))
}

// hexMAC returns the signature of a pre-hook's request.
func hexMAC(secret string, body []byte) string { return hex.EncodeToString(mac(secret, body)) }

func mac(secret string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write(body)
	return h.Sum(nil)
}
