package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// Role is a row of roles: a role that an administrator made, as one home has it. It travels to the other homes as it is.
type Role struct {
	ID          string     `json:"id"`
	DisplayName string     `json:"displayName"`
	Permissions []string   `json:"permissions"`
	CreatedAt   time.Time  `json:"createdAt"`
	UpdatedAt   time.Time  `json:"updatedAt"`
	DeletedAt   *time.Time `json:"deletedAt"`
	// ChangedAt and Origin, the region that took the change, say which of two changes is the newer one.
	ChangedAt time.Time `json:"changedAt"`
	Origin    string    `json:"origin"`
}

func scanRole(rows pgx.Rows) (Role, error) {
	var r Role
	err := rows.Scan(&r.ID, &r.DisplayName, &r.Permissions, &r.CreatedAt, &r.UpdatedAt, &r.DeletedAt, &r.ChangedAt, &r.Origin)
	return r, err
}

// MaxRoles is how many roles administrators can make; deleted ones count, as their ids stay known.
const MaxRoles = 500

var (
	sqlRoles = stmt("roles.all", `SELECT id, display_name, permissions, created_at, updated_at, deleted_at, changed_at, origin
		FROM roles WHERE home = $1 ORDER BY id LIMIT 1000`)
	sqlRolePut = stmt("roles.put", `INSERT INTO roles (home, id, display_name, permissions, created_at, updated_at, deleted_at, changed_at, origin)
		VALUES ($1, $2, $3, $4::text[], $5, $6, $7, $8, $9)
		ON CONFLICT (home, id) DO UPDATE SET display_name = excluded.display_name, permissions = excluded.permissions, created_at = excluded.created_at,
		updated_at = excluded.updated_at, deleted_at = excluded.deleted_at, changed_at = excluded.changed_at, origin = excluded.origin
		WHERE (roles.changed_at, roles.origin) <= (excluded.changed_at, excluded.origin)`)
)

// Roles reads the roles that administrators made, deleted ones too, as home has them.
func (r *ReadBatch) Roles(home region.Code, into *[]Role) {
	r.add(home, sqlRoles, scanAll(into, scanRole))
}

// UpsertRole stores a role as it is after a change, unless a newer one is there.
func (w *Tx) UpsertRole(r Role) {
	w.exec(sqlRolePut, r.ID, r.DisplayName, texts(r.Permissions), r.CreatedAt, r.UpdatedAt, r.DeletedAt, r.ChangedAt, r.Origin)
}
