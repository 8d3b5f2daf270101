package statusz

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Moderation describes the moderation settings in force in a region.
type Moderation struct {
	IsWhitelistEnabled bool `json:"isWhitelistEnabled"`
	IsReportEnabled    bool `json:"isReportEnabled"`
	FlagLimit          int  `json:"flagLimit"`
	FlagHideLimit      int  `json:"flagHideLimit,omitempty"`
	// Generation is the generation last pushed; 0 if none was.
	Generation int `json:"generation"`
	// Digest is the Hash of the fields above, as the server computed it.
	Digest string `json:"hash"`
	// AsOf is when the settings were read. If it is zero they were never read and the other fields are meaningless.
	AsOf time.Time `json:"asOf,omitzero"`
	// Error is why the last attempt to read them failed.
	Error string `json:"error,omitempty"`
}

// Hash returns the SHA-256, in lowercase hexadecimal, of the canonical form of the settings: a JSON object with sorted
// keys and no spaces. The generation is excluded, so that manual changes are detected regardless of it. A flagHideLimit of 0
// is left out, as by versions that do not have it.
//
//	{"flagLimit":100,"isReportEnabled":true,"isWhitelistEnabled":true}
func (m Moderation) Hash() string {
	settings := map[string]any{"flagLimit": m.FlagLimit, "isReportEnabled": m.IsReportEnabled, "isWhitelistEnabled": m.IsWhitelistEnabled}
	if m.FlagHideLimit != 0 {
		settings["flagHideLimit"] = m.FlagHideLimit
	}
	canonical, err := json.Marshal(settings)
	if err != nil {
		panic("statusz: " + err.Error()) // booleans and a number
	}
	digest := sha256.Sum256(canonical)
	return hex.EncodeToString(digest[:])
}
