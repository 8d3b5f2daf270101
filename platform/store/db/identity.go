package db

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/platform/region"
)

// ErrOtherNetwork is returned if the database belongs to another network.
var ErrOtherNetwork = errors.New("the database belongs to another network: each network needs a database of its own")

// NetworkIdentity returns what identifies a network in its database: a keyed hash of its id.
func NetworkIdentity(networkID, directoryKey string) string {
	mac := hmac.New(sha256.New, []byte(directoryKey))
	mac.Write([]byte("network " + networkID))
	return hex.EncodeToString(mac.Sum(nil))
}

const (
	// identitySetting is the name of the row of settings that contains the identity of the network, at every home.
	identitySetting  = "networkIdentity"
	sqlIdentities    = `SELECT DISTINCT value #>> '{}' FROM settings WHERE name = '` + identitySetting + `'`
	sqlIdentityStamp = `INSERT INTO settings (home, name, value, changed_at, origin) VALUES ($1, '` +
		identitySetting + `', to_jsonb($2::text), now(), '')
		ON CONFLICT (home, name) DO NOTHING`
)

// requireIdentity returns ErrOtherNetwork if the database has the identity of another network. An empty identity is not
// checked.
func requireIdentity(ctx context.Context, db *sql.DB, identity string) error {
	if identity == "" {
		return nil
	}
	stored, err := queryAll(ctx, db, oneText, sqlIdentities)
	switch {
	case isUndefinedTable(err):
		return nil
	case err != nil:
		return fmt.Errorf("read the identity of the network: %w", err)
	case slices.ContainsFunc(stored, func(found string) bool { return found != identity }):
		return ErrOtherNetwork
	}
	return nil
}

// stampIdentity stores the identity of the network at every home, unless it is stored.
func stampIdentity(ctx context.Context, db *sql.DB, identity string) error {
	if identity == "" {
		return nil
	}
	for _, home := range region.All() {
		if _, err := db.ExecContext(ctx, sqlIdentityStamp, home.String(), identity); err != nil {
			return fmt.Errorf("store the identity of the network: %w", err)
		}
	}
	return nil
}
