package statusz

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Moderation is how a region's requests are moderated.
type Moderation struct {
	IsWhitelistEnabled bool `json:"isWhitelistEnabled"`
	IsReportEnabled    bool `json:"isReportEnabled"`
	FlagLimit          int  `json:"flagLimit"`
	// Generation is what the settings were last pushed with; 0 where nobody has.
	Generation int `json:"generation"`
	// Digest is Hash of the above, as the server computed it.
	Digest string `json:"hash"`
	// AsOf is when the settings were read; zero means never, and then the rest says nothing.
	AsOf time.Time `json:"asOf,omitzero"`
	// Error is why they could not be read anew.
	Error string `json:"error,omitempty"`
}

// Hash returns the SHA-256, in lowercase hexadecimal, of the settings' canonical form: a JSON object with sorted keys and
// no spaces. The generation is not part of it, so that a change by hand shows whatever generation is stored.
//
//	{"flagLimit":100,"isReportEnabled":true,"isWhitelistEnabled":true}
func (m Moderation) Hash() string {
	canonical, err := json.Marshal(map[string]any{
		"flagLimit": m.FlagLimit, "isReportEnabled": m.IsReportEnabled, "isWhitelistEnabled": m.IsWhitelistEnabled,
	})
	if err != nil {
		panic("statusz: " + err.Error()) // booleans and a number
	}
	digest := sha256.Sum256(canonical)
	return hex.EncodeToString(digest[:])
}
