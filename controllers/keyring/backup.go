package keyring

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"
)

// backupFormat is the format of backups. Another format needs another name, because unknown fields are refused.
const backupFormat = "plaza-keys/1"

// Backup is a backup of the keys of a network.
type Backup struct {
	Network   string
	Namespace string
	NetworkID string
	CreatedAt time.Time
	Sets      map[string]Saved // by the names of the sets
}

// objectName matches the names of objects, which can be printed.
var objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

type wireBackup struct {
	Format    string               `json:"format"`
	Network   string               `json:"network"`
	Namespace string               `json:"namespace"`
	NetworkID string               `json:"networkID"`
	CreatedAt string               `json:"createdAt"`
	Sets      map[string]wireSaved `json:"sets"`
}

// ParseBackup parses and checks the result of Encode. Errors quote no keys.
func ParseBackup(text Secret) (Backup, error) {
	var start struct {
		Format string `json:"format"`
	}
	if json.Unmarshal([]byte(text.Reveal()), &start) != nil || start.Format == "" { // the error would quote the text
		return Backup{}, errors.New("it is not a backup of keys")
	}
	if start.Format != backupFormat {
		return Backup{}, fmt.Errorf("it has the format %.40q, not %s: a later version wrote it", start.Format, backupFormat)
	}
	var wire wireBackup
	if err := decode(text, &wire); err != nil {
		return Backup{}, errors.New("it has fields that the format " + backupFormat + " does not have, or data after its end")
	}
	at, err := time.Parse(time.RFC3339, wire.CreatedAt)
	if err != nil {
		return Backup{}, errors.New("createdAt is not an RFC 3339 time")
	}
	b := Backup{Network: wire.Network, Namespace: wire.Namespace, NetworkID: wire.NetworkID, CreatedAt: at, Sets: map[string]Saved{}}
	for set, saved := range wire.Sets {
		saved.Cluster = nil
		b.Sets[set] = saved.saved()
	}
	return b, b.Check()
}

// Encode returns b as JSON.
func (b Backup) Encode() Secret {
	wire := wireBackup{
		Format: backupFormat, Network: b.Network, Namespace: b.Namespace, NetworkID: b.NetworkID,
		CreatedAt: b.CreatedAt.UTC().Format(time.RFC3339), Sets: map[string]wireSaved{},
	}
	for set, saved := range b.Sets {
		saved.Cluster = nil
		wire.Sets[set] = saved.wire()
	}
	return encode(wire)
}

// Check validates all keys of a backup.
func (b Backup) Check() error {
	if !objectName.MatchString(b.Network) || !objectName.MatchString(b.Namespace) {
		return errors.New("it does not name the network and its namespace")
	}
	identity, found := b.Sets[IdentitySet]
	if !found {
		return errors.New("it has no identity")
	}
	for _, set := range slices.Sorted(maps.Keys(b.Sets)) {
		if err := b.Sets[set].Check(set); err != nil {
			return fmt.Errorf("%.60q: %w", set, err)
		}
	}
	if identity.Identity().NetworkID != b.NetworkID {
		return errors.New("its identity is that of another network than networkID")
	}
	return nil
}
