package db

import (
	"context"

	"github.com/plaza-social/plaza/platform/region"
)

// Engine returns the engine of the database of a home, which CockroachDB tells when a connection is made: it sends no
// statement.
func (d *DB) Engine(ctx context.Context, code region.Code) (Engine, error) {
	bounded, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	conn, release, err := d.homes[code].acquire(bounded)
	if err != nil {
		return "", err
	}
	defer release()
	if reportsCockroach(conn.Conn()) {
		return CockroachDB, nil
	}
	return PostgreSQL, nil
}
