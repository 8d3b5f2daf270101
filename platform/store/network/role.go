package network

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Role is a row of roles: a role created by an administrator, as stored in one home. It is replicated to all homes.
type Role struct {
	ID          string     `json:"id"`
	DisplayName string     `json:"displayName"`
	Permissions []string   `json:"permissions"`
	CreatedAt   time.Time  `json:"createdAt"`
	UpdatedAt   time.Time  `json:"updatedAt"`
	DeletedAt   *time.Time `json:"deletedAt"`
	// ChangedAt and Origin, the region of the change, determine which of two changes is newer.
	ChangedAt time.Time `json:"changedAt"`
	Origin    string    `json:"origin"`
}

// MaxRoles is the maximum number of roles that administrators can create, including deleted ones.
const MaxRoles = 500

var (
	sqlRoles = db.Register("roles.all", `SELECT id, display_name, permissions, created_at, updated_at, deleted_at, changed_at, origin
		FROM roles WHERE home = $1 ORDER BY id LIMIT 1000`)
	sqlRoleGuardFree = db.Register("roles.guardFree", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM roles WHERE home = $1 AND id = $2 AND deleted_at
		IS NULL)
		THEN 0 ELSE 1 END`)
	sqlRoleUpsert = db.Register("roles.put", `INSERT INTO roles (home, id, display_name, permissions, created_at, updated_at, deleted_at, changed_at,
		origin)
		VALUES ($1, $2, $3, $4::text[], $5, $6, $7, $8, $9)
		ON CONFLICT (home, id) DO UPDATE SET display_name = excluded.display_name, permissions = excluded.permissions,
		created_at = excluded.created_at,
		updated_at = excluded.updated_at, deleted_at = excluded.deleted_at, changed_at = excluded.changed_at, origin = excluded.origin
		WHERE (roles.changed_at, roles.origin) <= (excluded.changed_at, excluded.origin)`)
)

// Roles reads the roles created by administrators, including deleted ones, as stored in a home.
func (r ReadBatch) Roles(home region.Code, into *[]Role) {
	r.Add(home, sqlRoles, db.Rows(into))
}

// GuardRoleIDFree makes the transaction fail with taken if there is a role with the id that is not deleted.
func (w Tx) GuardRoleIDFree(id string, taken error) { w.Guard(sqlRoleGuardFree, taken, id) }

// UpsertRole stores a changed role unless the stored one is newer.
func (w Tx) UpsertRole(r Role) {
	w.Exec(sqlRoleUpsert, r.ID, r.DisplayName, core.EmptyIfNil(r.Permissions), r.CreatedAt, r.UpdatedAt, r.DeletedAt, r.ChangedAt, r.Origin)
}
