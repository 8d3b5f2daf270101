package people

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// User is a row of users.
type User struct {
	ID              string
	PublicID        string
	DisplayName     string
	ProfileHandle   string
	HandleClaim     string // the id of the claim of ProfileHandle
	Description     string
	AvatarFileID    string
	AvatarCustomURL string
	Roles           []string
	Metadata        []byte   // JSON
	Flaggers        []string // internal ids of the users who flagged the user
	FlagCount       int64
	IsGlobalBan     bool
	IsBrand         bool
	// IsPresenceHidden hides that the user is online and what the user watches.
	IsPresenceHidden  bool
	PresenceChangedAt *time.Time // nil if IsPresenceHidden never changed
	CreatedAt         time.Time
	UpdatedAt         time.Time
	DeletedAt         *time.Time
}

// UserColumns are the columns of User.
var UserColumns = db.Columns[User]()

// Caller is the user who makes a request.
type Caller struct {
	User
	// SessionLive is false if the session is unknown or revoked.
	SessionLive bool
	// SessionAuthenticated is true if the session was created with an authToken.
	SessionAuthenticated bool
}

var (
	sqlUsersByID = db.Register("users.byID", `SELECT `+UserColumns+` FROM users WHERE home = $1 AND id = ANY($2::text[])`)
	sqlCaller    = db.Register("users.caller", `SELECT `+UserColumns+`,
		EXISTS (SELECT 1 FROM sessions WHERE home = $1 AND user_id = $2 AND sessions.id = $3 AND revoked_at IS NULL),
		EXISTS (SELECT 1 FROM sessions WHERE home = $1 AND user_id = $2 AND sessions.id = $3 AND authenticated)
		FROM users WHERE home = $1 AND users.id = $2`)
	sqlCreatorOfCommunity = db.Register("users.creatorOfCommunity", `SELECT `+UserColumns+` FROM users WHERE home = $1 AND id =
		(SELECT creator_id FROM communities WHERE home = $1 AND communities.id = $2)`)
	sqlUsersByHandle = db.Register("users.byHandle", `SELECT `+UserColumns+` FROM users WHERE home = $1 AND handle_key = $2 AND lower(profile_handle)
		= $3
		AND deleted_at IS NULL ORDER BY id LIMIT 100`)
	sqlUserInsert = db.Register("users.insert", `INSERT INTO users (home, id, public_id, display_name, name_key, profile_handle, handle_key,
		handle_claim, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $9, $8, $8) ON CONFLICT (home, id) DO NOTHING`)
	sqlUserUpdate = db.Register("users.update", `UPDATE users SET
		display_name = COALESCE($3::text, display_name), name_key = COALESCE($4::text, name_key),
		profile_handle = COALESCE($5::text, profile_handle), handle_key = COALESCE($12::text, handle_key), description = COALESCE($6::text,
		description),
		avatar_file_id = COALESCE($7::text, avatar_file_id), avatar_custom_url = COALESCE($8::text, avatar_custom_url),
		roles = COALESCE($9::text[], roles), metadata = COALESCE($10::jsonb, metadata), updated_at = $11, is_brand = COALESCE($13::boolean,
		is_brand),
		handle_claim = COALESCE($14::text, handle_claim)
		WHERE home = $1 AND id = $2 AND deleted_at IS NULL RETURNING `+UserColumns).Updates(core.SharedUsers, 2)
	// Users whose row does not exist yet have no role.
	sqlUserGuardNoRoles = db.Register("users.guardNoRoles", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM users
		WHERE home = $1 AND id = $2 AND cardinality(roles) > 0) THEN 0 ELSE 1 END`)
	// A setting that stays as it is keeps the time of its change.
	sqlUserHidePresence = db.Register("users.hidePresence", `UPDATE users SET
		presence_changed_at = CASE WHEN is_presence_hidden = $3::boolean THEN presence_changed_at ELSE $4::timestamptz END,
		is_presence_hidden = $3::boolean
		WHERE home = $1 AND id = $2 RETURNING `+UserColumns).Updates(core.SharedUsers, 2)
	sqlUserSomeIDs = db.Register("users.someIDs", `SELECT id FROM users WHERE home = $1 ORDER BY id LIMIT 1`)
	sqlUserBan     = db.Register("users.ban",
		`UPDATE users SET is_global_ban = $3::boolean, updated_at = $4 WHERE home = $1 AND id = $2 RETURNING `+UserColumns).Updates(core.SharedUsers,
		2)
)

// The statements of ListUsers, and those of their windows.
var (
	usersByCreation, usersByCreationWindows               = usersByTime("all", "")
	flaggedUsersByCreation, flaggedUsersByCreationWindows = usersByTime("flagged", " AND is_flagged")

	namedUsers = core.Source{
		Name: "users.list.all", Columns: UserColumns + `, name_key`, From: `users WHERE home = $1 AND name_key >= $6 AND name_key < $7`,
		Filter: userLives + ` AND lower(display_name) LIKE $8`, After: 3, Args: 8,
	}
	usersByName, usersByNameWindows = core.OrderedBy(core.NameOrders, "name_key", namedUsers.List), core.OrderedBy(core.NameOrders, "name_key",
		namedUsers.Window)
)

// userLives is the filter of these statements.
const userLives = ` AND (deleted_at IS NOT NULL) = $2::boolean`

func usersByTime(name, condition string) (lists, windows core.Directions) {
	users := core.Source{
		Name: "users.list." + name, Columns: UserColumns + `, name_key`,
		From: `users WHERE home = $1` + condition, Filter: userLives, After: 3, Args: 5,
	}
	return core.OrderedBy(core.CreatedOrders, "created_at", users.List), core.OrderedBy(core.CreatedOrders, "created_at", users.Window)
}

// Caller reads the user who makes the request, and whether the session is valid.
func (r ReadBatch) Caller(userID, sessionID string, into **Caller) {
	r.AddAt(userID, sqlCaller, db.Row(into), userID, sessionID)
}

// Users reads users by internal id, of any homes, in the order of the ids.
func (r ReadBatch) Users(ids []string, into *[]User) {
	core.ReadMany(r.ReadBatch, ids, sqlUsersByID, into)
	r.Then(func() { SortUsers(*into, ids) })
}

// SomeUserIDs reads the id of a user of each home that has any.
func (r ReadBatch) SomeUserIDs(into *[]string) {
	for _, home := range region.All() {
		var ids []string
		r.Add(home, sqlUserSomeIDs, db.Values(&ids))
		r.Then(func() { *into = append(*into, ids...) })
	}
}

// SortUsers sorts users in the order of ids. Other users come last in their present order.
func SortUsers(users []User, ids []string) {
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		if _, known := place[id]; !known {
			place[id] = i - len(ids) // negative, unlike the zero of other users
		}
	}
	slices.SortStableFunc(users, func(a, b User) int { return place[a.ID] - place[b.ID] })
}

// CreatorOf reads the creator of a community if both have the same home.
func (r ReadBatch) CreatorOf(communityID string, into *[]User) {
	r.AddAt(communityID, sqlCreatorOfCommunity, db.Rows(into), communityID)
}

// InsertUser inserts a user unless the id exists.
func (w Tx) InsertUser(u User, now time.Time) {
	w.Exec(sqlUserInsert, u.ID, u.PublicID, u.DisplayName, core.NameKey(u.DisplayName, core.PersonNameKeyRunes), u.ProfileHandle,
		core.NameKey(u.ProfileHandle, core.PersonNameKeyRunes), now, u.HandleClaim)
}

// SelectUser reads a user after the preceding statements.
func (w Tx) SelectUser(id string, into *[]User) {
	w.Query(sqlUsersByID, db.Rows(into), []string{id})
}

// UserChange contains the fields of a profile to change; nil fields are unchanged.
type UserChange struct {
	DisplayName, ProfileHandle, Description, AvatarFileID, AvatarCustomURL *string
	HandleClaim                                                            *string // of ProfileHandle
	Roles                                                                  []string
	Metadata                                                               []byte // JSON
	IsBrand                                                                *bool
}

// UpdateUser changes a profile and reads it back; nil if there is no such user or the user is deleted.
func (w Tx) UpdateUser(id string, c UserChange, now time.Time, into **User) {
	w.Query(sqlUserUpdate, db.Row(into), id, c.DisplayName, core.KeyOf(c.DisplayName, core.PersonNameKeyRunes), c.ProfileHandle, c.Description,
		c.AvatarFileID, c.AvatarCustomURL, c.Roles, c.Metadata, now, core.KeyOf(c.ProfileHandle,
			core.PersonNameKeyRunes), c.IsBrand, c.HandleClaim)
	w.ReplaceFile(core.FileUse{ObjectID: id, Kind: core.UseUser, AuthorID: id}, c.AvatarFileID)
}

// GuardNoRoles fails the transaction with refusal if the user has a network role.
func (w Tx) GuardNoRoles(id string, refusal error) { w.Guard(sqlUserGuardNoRoles, refusal, id) }

// BanUser sets or lifts the ban of a user from the network.
func (w Tx) BanUser(id string, banned bool, now time.Time, into **User) {
	w.Query(sqlUserBan, db.Row(into), id, banned, now)
}

// HidePresence hides or shows the presence of a user.
func (w Tx) HidePresence(id string, hidden bool, now time.Time, into **User) {
	w.Query(sqlUserHidePresence, db.Row(into), id, hidden, now)
}

// UserList is a page of the users of all homes.
type UserList struct {
	Flagged bool
	Deleted bool
	ByName  bool
	Desc    bool
	// Prefix is the prefix of the name or, with Exact, the whole name. It requires ByName.
	Prefix string
	Exact  bool
	// The position that the page starts after.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// pattern returns the LIKE pattern of the listed names.
func (l UserList) pattern() string {
	if l.Exact {
		return strings.TrimSuffix(core.LikePrefix(l.Prefix), "%")
	}
	return core.LikePrefix(l.Prefix)
}

// UsersByHandle reads up to 100 users of every home with the handle, ignoring case.
func (r ReadBatch) UsersByHandle(handle string, into *[]User) {
	*into = nil
	core.ReadEveryHome(r.ReadBatch, sqlUsersByHandle, into, core.NameKey(handle, core.PersonNameKeyRunes), strings.ToLower(handle))
}

// UserListRow is a user with the key of lists by name.
type UserListRow struct {
	User
	Key string
}

// ListUsers reads up to Limit users of each home, home by home.
func (r ReadBatch) ListUsers(l UserList, into *[]UserListRow) {
	*into = nil
	after := core.Position{Time: l.AfterTime, Key: l.AfterKey, ID: l.AfterID}
	lists, windowed := l.statements()
	if !l.isFiltered() {
		core.ReadEveryHome(r.ReadBatch, lists.In(l.Desc), into, l.args(after, l.Limit)...)
		return
	}
	for _, home := range region.All() {
		core.ReadWindows(r.ReadBatch, core.Windows[UserListRow]{
			Home: home, After: after, Limit: l.Limit, Statement: windowed.In(l.Desc), Args: l.args,
			Rows: core.RowsAt(r.ReadBatch, r.Users, func(u User, at map[string]core.Position) (UserListRow, bool) {
				return UserListRow{u, at[u.ID].Key}, true
			}),
		}, into)
	}
}

// statements returns the statements of the list and of its windows.
func (l UserList) statements() (lists, windowed core.Directions) {
	switch {
	case l.ByName:
		return usersByName, usersByNameWindows
	case l.Flagged:
		return flaggedUsersByCreation, flaggedUsersByCreationWindows
	}
	return usersByCreation, usersByCreationWindows
}

func (l UserList) args(after core.Position, limit int) []any {
	if l.ByName {
		low, high := core.PrefixRange(core.NameKey(l.Prefix, core.PersonNameKeyRunes))
		return []any{l.Deleted, after.Key, db.Other(after.ID), limit, low, high, l.pattern()}
	}
	return []any{l.Deleted, after.Time, db.Other(after.ID), limit}
}

// isFiltered reports whether the list has a filter without an index.
func (l UserList) isFiltered() bool {
	return l.Deleted || l.ByName && (l.Exact || utf8.RuneCountInString(l.Prefix) > core.PersonNameKeyRunes)
}
