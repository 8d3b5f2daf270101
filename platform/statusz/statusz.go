// Package statusz defines the status that a server reports on its control port: what it actually runs, as opposed to how it was
// configured.
//
// Servers fill in these types; the operator reads them. The package imports neither, so that both can import it. Times
// are UTC and omitted from the JSON while unknown. No field ever contains a key or a password.
package statusz

import (
	"slices"
	"time"
)

// The paths on the control port, or without one on the operations port.
const (
	Path          = "/statusz"                 // GET: returns Status
	ServerKeyPath = "/statusz/server-key"      // POST: ServerKeyRequest, returns ServerKeyAnswer
	LogLevelPath  = "/statusz/log-level"       // PUT: LogLevelRequest; on the control port only
	SettingsPath  = "/api/v3/network-settings" // PUT: the network settings, as the API does; on the control port only
)

// Status is the status of one server process.
type Status struct {
	Region        string        `json:"region"`    // us, eu or sg
	NetworkID     string        `json:"networkId"` // 24 lowercase hexadecimal characters
	Version       string        `json:"version"`
	Revision      string        `json:"revision"`
	StartedAt     time.Time     `json:"startedAt"`
	Draining      bool          `json:"draining"` // whether the process is shutting down
	Schema        Schema        `json:"schema"`
	Keys          Keys          `json:"keys"`
	Moderation    Moderation    `json:"moderation"`
	SecureMode    SecureMode    `json:"secureMode"`
	Configuration Configuration `json:"configuration"`
	Placement     Placement     `json:"placement"`
	// LogLevel is nil if the level cannot be changed at run time.
	LogLevel *LogLevel `json:"logLevel,omitempty"`
	// Control is nil if the server has no control endpoints.
	Control *Control `json:"control,omitempty"`
	// Evacuated is nil if the server has no file of evacuated regions.
	Evacuated *Evacuated `json:"evacuated,omitempty"`
	Hooks     *Hooks     `json:"hooks,omitempty"`
	// Requests is nil if the server does not count them.
	Requests *Requests `json:"requests,omitempty"`
}

// Requests counts the requests since the process started.
type Requests struct {
	Total  int64 `json:"total"`
	Failed int64 `json:"failed"` // because of the server: HTTP status 5xx
}

// Evacuated describes the regions whose server keys the server accepts, and whose background work it does, besides its own.
type Evacuated struct {
	Regions   []EvacuatedRegion `json:"regions"`
	LoadedAt  time.Time         `json:"loadedAt"`           // when the content in use was read
	CheckedAt time.Time         `json:"checkedAt,omitzero"` // when the file was last read successfully
	Error     string            `json:"error,omitempty"`    // why the last read failed; the previous content stays in use
}

// EvacuatedRegion is an evacuated region.
type EvacuatedRegion struct {
	Region     string `json:"region"`
	ServerKeys []Key  `json:"serverKeys"`
}

// Has reports whether a region is evacuated to the server, and the server accepts its keys with the given ids.
func (e *Evacuated) Has(region string, keys []string) bool {
	if e == nil {
		return false
	}
	for _, r := range e.Regions {
		if r.Region == region {
			return !slices.ContainsFunc(keys, func(id string) bool {
				return !slices.ContainsFunc(r.ServerKeys, func(k Key) bool { return k.ID == id })
			})
		}
	}
	return false
}

// Control describes the certificate of the control endpoints.
type Control struct {
	Certificate Key `json:"certificate"`
	// Authorities are those that may issue the operator's certificate.
	Authorities []Key     `json:"authorities"`
	LoadedAt    time.Time `json:"loadedAt"`           // when the files in use were read
	CheckedAt   time.Time `json:"checkedAt,omitzero"` // when the files were last read successfully
	Error       string    `json:"error,omitempty"`    // why the last read failed; the previous files stay in use
}

// Trusts reports whether certificates of the authority with an id are accepted.
func (c *Control) Trusts(id string) bool {
	return c != nil && slices.ContainsFunc(c.Authorities, func(k Key) bool { return k.ID == id && k.Valid })
}

// SecureMode describes whether every sign-in requires an authToken.
type SecureMode struct {
	Enabled bool `json:"enabled"`
	// Warning says what the network risks; empty if secure mode is on.
	Warning string `json:"warning,omitempty"`
	// AsOf is when the setting was read. If it is zero it was never read and Enabled is meaningless.
	AsOf time.Time `json:"asOf,omitzero"`
}

// WarningInsecure is the warning of a network that is not in secure mode.
const WarningInsecure = "secure mode is off: with the API key anyone can sign in as any user without a network role; " +
	`turn it on with PUT /api/v3/network-settings {"isSecureModeEnabled": true}`

// Schema is the database schema as last read by the server.
type Schema struct {
	Current  int64     `json:"current"`       // 0 if there is none or AsOf is zero
	Required int64     `json:"required"`      // required by the program
	AsOf     time.Time `json:"asOf,omitzero"` // when Current was read; zero means never
	Error    string    `json:"error,omitempty"`
}

// Keys describes the three key files in use.
type Keys struct {
	Server  KeyFile `json:"server"`
	API     KeyFile `json:"api"`
	Signing KeyFile `json:"signing"`
}

// KeyFile describes a key file.
type KeyFile struct {
	Keys      []Key     `json:"keys"`               // in the order of the file
	LoadedAt  time.Time `json:"loadedAt"`           // when the content in use was read
	CheckedAt time.Time `json:"checkedAt,omitzero"` // when the file was last read successfully
	Error     string    `json:"error,omitempty"`    // why the last read failed; the previous keys stay in use
}

// Key describes a key without its secret.
type Key struct {
	ID       string    `json:"id"`
	NotAfter time.Time `json:"notAfter,omitzero"` // when the key stops being valid; zero means never
	Valid    bool      `json:"valid"`             // whether it is valid now
}

// Find returns the key with an id, and false if the file does not have it.
func (f KeyFile) Find(id string) (Key, bool) {
	for _, key := range f.Keys {
		if key.ID == id {
			return key, true
		}
	}
	return Key{}, false
}

// Configuration identifies the configuration of the process.
type Configuration struct {
	Hash string `json:"hash"` // of every non-secret setting: 64 lowercase hexadecimal characters
}

// The states of Placement.
const (
	Pinned    = "Pinned"    // every row is stored as configured
	NotPinned = "NotPinned" // the field NotPinned lists the exceptions
	Unknown   = "Unknown"   // the field Reason explains why
)

// The reasons of Placement.
const (
	ReasonAllTablesPinned       = "AllTablesPinned"
	ReasonTablesNotPinned       = "TablesNotPinned"
	ReasonDatabaseRegionsDiffer = "DatabaseRegionsDiffer" // every table is pinned, but the database's regions differ from the configuration
	ReasonNoPlacement           = "PostgreSQLHasNoPlacement"
	ReasonNotRegional           = "CockroachDBHasNoRegions" // its nodes have no localities
	ReasonNotCheckedYet         = "NotCheckedYet"
	ReasonCheckFailed           = "CheckFailed" // Message has the error
)

// Placement compares where the database stores the rows of tables with the configuration. It is checked in the
// background every few minutes.
type Placement struct {
	State     string           `json:"state"`
	Reason    string           `json:"reason"`
	Message   string           `json:"message,omitempty"`
	Engine    string           `json:"engine,omitempty"`   // postgresql or cockroachdb
	CheckedAt time.Time        `json:"checkedAt,omitzero"` // when the database was last queried
	Want      PlacementWanted  `json:"want"`
	Tables    int              `json:"tables"`    // number of the program's tables
	NotPinned []TableNotPinned `json:"notPinned"` // never null
}

// PlacementWanted is the configured placement.
type PlacementWanted struct {
	Localities map[string]string `json:"localities"` // database region by home
	Primary    string            `json:"primary"`    // home whose region stores rows without a home
	Survive    string            `json:"survive"`    // zone or region
}

// TableNotPinned is a table that is not placed as configured, and a description of its placement. An empty Table is the
// database itself.
type TableNotPinned struct {
	Table string `json:"table"`
	Has   string `json:"has"`
}
