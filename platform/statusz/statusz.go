// Package statusz is what a server says about itself on its operations port: what it actually runs, not what it was given.
//
// The server fills these types, the operator reads them and reports from them. The package imports neither: both may
// import it. Times are UTC; one that is not known yet is left out of the JSON. No field ever holds a key or a password.
package statusz

import "time"

// The paths on the operations port.
const (
	Path          = "/statusz"            // GET: Status
	ServerKeyPath = "/statusz/server-key" // POST: ServerKeyRequest, answered by ServerKeyAnswer
)

// Status is what one server process runs.
type Status struct {
	Region        string        `json:"region"`    // us, eu or sg
	NetworkID     string        `json:"networkId"` // 24 lowercase hexadecimal characters
	Version       string        `json:"version"`
	Revision      string        `json:"revision"`
	StartedAt     time.Time     `json:"startedAt"`
	Draining      bool          `json:"draining"` // whether the process is about to stop
	Schema        Schema        `json:"schema"`
	Keys          Keys          `json:"keys"`
	Moderation    Moderation    `json:"moderation"`
	Configuration Configuration `json:"configuration"`
	Placement     Placement     `json:"placement"`
}

// Schema is the database's schema as the server last read it.
type Schema struct {
	Current  int64     `json:"current"`       // 0 where there is none, or AsOf is zero
	Required int64     `json:"required"`      // what the program needs
	AsOf     time.Time `json:"asOf,omitzero"` // when Current was read; zero means never
	Error    string    `json:"error,omitempty"`
}

// Keys are the three key files as they are loaded.
type Keys struct {
	Server  KeyFile `json:"server"`
	API     KeyFile `json:"api"`
	Signing KeyFile `json:"signing"`
}

// KeyFile is one file of keys.
type KeyFile struct {
	Keys      []Key     `json:"keys"`               // in the order of the file
	LoadedAt  time.Time `json:"loadedAt"`           // when the content in use was taken
	CheckedAt time.Time `json:"checkedAt,omitzero"` // the last look at the file that went well
	Error     string    `json:"error,omitempty"`    // why the last look failed; the keys before stay in use
}

// Key is what may be told about a key.
type Key struct {
	ID       string    `json:"id"`
	NotAfter time.Time `json:"notAfter,omitzero"` // the first moment at which the key no longer holds; zero means never
	Valid    bool      `json:"valid"`             // whether it holds now
}

// Find returns the key with the id, if the file has it.
func (f KeyFile) Find(id string) (Key, bool) {
	for _, key := range f.Keys {
		if key.ID == id {
			return key, true
		}
	}
	return Key{}, false
}

// Configuration is the configuration that the process was started with.
type Configuration struct {
	Hash string `json:"hash"` // of every setting that is no secret: 64 lowercase hexadecimal characters
}

// The states of Placement.
const (
	Pinned    = "Pinned"    // every row is where the configuration says
	NotPinned = "NotPinned" // NotPinned lists what is not
	Unknown   = "Unknown"   // Reason says why
)

// The reasons of Placement.
const (
	ReasonAllTablesPinned       = "AllTablesPinned"
	ReasonTablesNotPinned       = "TablesNotPinned"
	ReasonDatabaseRegionsDiffer = "DatabaseRegionsDiffer" // every table is pinned, but the database's regions are not those wanted
	ReasonNoPlacement           = "PostgreSQLHasNoPlacement"
	ReasonNotCheckedYet         = "NotCheckedYet"
	ReasonCheckFailed           = "CheckFailed" // Message says how
)

// Placement is where the database keeps the tables' rows, against what the configuration says. It is asked in the
// background every few minutes.
type Placement struct {
	State     string           `json:"state"`
	Reason    string           `json:"reason"`
	Message   string           `json:"message,omitempty"`
	Engine    string           `json:"engine,omitempty"`   // postgresql or cockroachdb
	CheckedAt time.Time        `json:"checkedAt,omitzero"` // when the database was last asked
	Want      PlacementWanted  `json:"want"`
	Tables    int              `json:"tables"`    // how many tables the program has
	NotPinned []TableNotPinned `json:"notPinned"` // never null
}

// PlacementWanted is what the configuration says.
type PlacementWanted struct {
	Localities map[string]string `json:"localities"` // database region by home
	Primary    string            `json:"primary"`    // home whose region keeps what belongs to no home
	Survive    string            `json:"survive"`    // zone or region
}

// TableNotPinned is a table whose rows are elsewhere, and what it has instead, in words. An empty Table is the database.
type TableNotPinned struct {
	Table string `json:"table"`
	Has   string `json:"has"`
}

// ServerKeyRequest asks whether a server accepts a server key.
type ServerKeyRequest struct {
	Key string `json:"key"`
}

// ServerKeyAnswer says whether it does, and which of its keys that is.
type ServerKeyAnswer struct {
	Valid    bool      `json:"valid"`
	ID       string    `json:"id,omitempty"`
	NotAfter time.Time `json:"notAfter,omitzero"`
}
