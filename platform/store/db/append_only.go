package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// appendOnly are the tables of which the roles of servers may not change rows, and the rights that they lose.
var appendOnly = map[string]string{
	"audit_events": "UPDATE, DELETE", "audit_targets": "UPDATE, DELETE",
	"audit_details": "UPDATE", // erasures delete rows
}

const sqlGrantees = `SELECT DISTINCT grantee FROM information_schema.role_table_grants WHERE table_schema = 'public' AND table_name = $1
	AND privilege_type IN ('UPDATE', 'DELETE') AND grantee NOT IN (current_user, 'admin', 'root', 'public')
	AND grantee NOT IN (SELECT tableowner FROM pg_tables WHERE schemaname = 'public' AND tablename = $1)`

// restrictAppendOnly takes the rights to change rows of append-only tables from all roles but the owner. It belongs to
// every migration, because the default privileges of an existing database grant them on new tables.
func restrictAppendOnly(ctx context.Context, db *sql.DB) error {
	for table, rights := range appendOnly {
		grantees, err := queryAll(ctx, db, oneText, sqlGrantees, table)
		if err != nil {
			return fmt.Errorf("read the rights on %s: %w", table, err)
		}
		for _, grantee := range grantees {
			if _, err := db.ExecContext(ctx, revokeStatement(table, rights, grantee)); err != nil {
				return fmt.Errorf("make %s append-only: %w", table, err)
			}
		}
	}
	return nil
}

func revokeStatement(table, rights, grantee string) string {
	return "REVOKE " + rights + " ON TABLE public." + table + " FROM " + pgx.Identifier{grantee}.Sanitize()
}
