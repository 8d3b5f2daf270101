package statusz

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// The paths on the control port at which the operator sets the webhooks and the pre-hook of its configuration, as the API does.
const (
	WebhooksPath = SettingsPath + "/managed-webhooks" // PUT
	PrehookPath  = SettingsPath + "/managed-prehook"  // PUT
)

// Hooks describes the webhooks and the pre-hook of the operator's configuration that are in force in a region.
type Hooks struct {
	// Enabled is false while an administrator has disabled all webhooks.
	Enabled  bool      `json:"enabled"`
	Webhooks []Webhook `json:"webhooks"`
	// PrehookDigest is Hash of the pre-hook's settings; empty if the operator did not set one.
	PrehookDigest string `json:"prehookHash,omitempty"`
	// AsOf is when the settings were read. If it is zero they were never read and the other fields are meaningless.
	AsOf time.Time `json:"asOf,omitzero"`
	// Error is why the last attempt to read them failed.
	Error string `json:"error,omitempty"`
}

// Webhook is a webhook of the operator's configuration.
type Webhook struct {
	Name string `json:"name"`
	// Digest is Hash of the webhook's settings.
	Digest string `json:"hash"`
	// Deliveries are those that this server works on.
	Deliveries []Deliveries `json:"deliveries,omitempty"`
}

// Deliveries are the deliveries of the events of one home to a webhook.
type Deliveries struct {
	Home string `json:"home"`
	// Oldest is when the oldest event happened that waits for delivery; zero if none does.
	Oldest time.Time `json:"oldest,omitzero"`
	// Dead is the number of events that could not be delivered and are kept.
	Dead int64 `json:"dead"`
	// Failed is why the latest attempt failed, such as timeout; empty if it succeeded.
	Failed string `json:"failed,omitempty"`
}

// Find returns the webhook with a name, or nil.
func (h *Hooks) Find(name string) *Webhook {
	if h == nil {
		return nil
	}
	if i := slices.IndexFunc(h.Webhooks, func(w Webhook) bool { return w.Name == name }); i >= 0 {
		return &h.Webhooks[i]
	}
	return nil
}

// HookSettings are the settings of a webhook or a pre-hook. DefaultAction and TimeoutMS are those of a pre-hook, which has no name.
type HookSettings struct {
	Name          string   `json:"name"`
	URL           string   `json:"url"`
	Events        []string `json:"events"` // in any order
	Enabled       bool     `json:"enabled"`
	DefaultAction string   `json:"defaultAction"`
	TimeoutMS     int      `json:"timeoutMs"`
	Secret        string   `json:"secret"`
}

// Hash returns the HMAC-SHA256 of the settings in lowercase hexadecimal. Its key is derived from the network's directory key, so that
// who sees a status cannot find the secret of a hook by trying.
func (s HookSettings) Hash(directoryKey []byte) string {
	key := hmac.New(sha256.New, directoryKey)
	_, _ = key.Write([]byte("plaza/digests of hooks/1"))
	s.Events = slices.Compact(slices.Sorted(slices.Values(s.Events)))
	text, err := json.Marshal(s)
	if err != nil {
		panic("statusz: " + err.Error()) // texts, a boolean and a number
	}
	digest := hmac.New(sha256.New, key.Sum(nil))
	_, _ = digest.Write(text)
	return hex.EncodeToString(digest.Sum(nil))
}
