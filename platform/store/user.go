package store

import (
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// User is a row of users.
type User struct {
	ID              string
	PublicID        string
	DisplayName     string
	ProfileHandle   string
	Description     string
	AvatarFileID    string
	AvatarCustomURL string
	Roles           []string
	Metadata        []byte   // JSON
	Flaggers        []string // internal ids of those who flag the user
	FlagCount       int64
	IsGlobalBan     bool
	IsBrand         bool
	CreatedAt       time.Time
	UpdatedAt       time.Time
	DeletedAt       *time.Time
}

const userColumns = `id, public_id, display_name, profile_handle, description, avatar_file_id, avatar_custom_url, roles,
	metadata, flaggers, flag_count, is_global_ban, is_brand, created_at, updated_at, deleted_at`

func (u *User) fields() []any {
	return []any{
		&u.ID, &u.PublicID, &u.DisplayName, &u.ProfileHandle, &u.Description, &u.AvatarFileID, &u.AvatarCustomURL,
		&u.Roles, &u.Metadata, &u.Flaggers, &u.FlagCount, &u.IsGlobalBan, &u.IsBrand, &u.CreatedAt, &u.UpdatedAt, &u.DeletedAt,
	}
}

func scanUser(rows pgx.Rows) (User, error) {
	var u User
	err := rows.Scan(u.fields()...)
	return u, err
}

// Caller is what a request needs to know of the user who makes it.
type Caller struct {
	User
	// SessionLive is false where the token's session is unknown or revoked.
	SessionLive bool
}

func scanCaller(rows pgx.Rows) (Caller, error) {
	var c Caller
	err := rows.Scan(append(c.fields(), &c.SessionLive)...)
	return c, err
}

var (
	sqlUsersByID = stmt("users.byID", `SELECT `+userColumns+` FROM users WHERE home = $1 AND id = ANY($2::text[])`)
	sqlCaller    = stmt("users.caller", `SELECT `+userColumns+`,
		EXISTS (SELECT 1 FROM sessions WHERE home = $1 AND user_id = $2 AND sessions.id = $3 AND revoked_at IS NULL)
		FROM users WHERE home = $1 AND users.id = $2`)
	sqlCreatorOf = stmt("users.creatorOfCommunity", `SELECT `+userColumns+` FROM users WHERE home = $1 AND id =
		(SELECT creator_id FROM communities WHERE home = $1 AND communities.id = $2)`)
	sqlUsersByHandle = stmt("users.byHandle", `SELECT `+userColumns+` FROM users WHERE home = $1 AND handle_key = $2 AND lower(profile_handle) = $3
		AND deleted_at IS NULL ORDER BY id LIMIT 100`)
	sqlUserInsert = stmt("users.insert", `INSERT INTO users (home, id, public_id, display_name, name_key, profile_handle, handle_key, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT (home, id) DO NOTHING`)
	sqlUserUpdate = stmt("users.update", `UPDATE users SET
		display_name = COALESCE($3::text, display_name), name_key = COALESCE($4::text, name_key),
		profile_handle = COALESCE($5::text, profile_handle), handle_key = COALESCE($12::text, handle_key), description = COALESCE($6::text, description),
		avatar_file_id = COALESCE($7::text, avatar_file_id), avatar_custom_url = COALESCE($8::text, avatar_custom_url),
		roles = COALESCE($9::text[], roles), metadata = COALESCE($10::jsonb, metadata), updated_at = $11, is_brand = COALESCE($13::boolean, is_brand)
		WHERE home = $1 AND id = $2 RETURNING `+userColumns)
	sqlUserBan = stmt("users.ban", `UPDATE users SET is_global_ban = $3::boolean, updated_at = $4 WHERE home = $1 AND id = $2 RETURNING `+userColumns)
)

// userLists holds the statements of ListUsers by order and filter.
var userLists = makeUserLists()

func makeUserLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		for filter, where := range map[string]string{"all": "", "flagged": " AND flag_count > 0"} {
			lists[filter+o.name] = stmt("users.list."+filter+o.name, `SELECT `+userColumns+` FROM users WHERE home = $1`+where+
				` AND (deleted_at IS NOT NULL) = $2::boolean AND `+o.after("created_at", "id", "$3::timestamptz", "$4")+
				` ORDER BY `+o.by("created_at", "id")+` LIMIT $5::bigint`)
		}
	}
	for _, o := range []listOrder{orderNameAsc, orderNameDesc} {
		lists["all"+o.name] = stmt("users.list.all"+o.name, `SELECT `+userColumns+`, name_key FROM users WHERE home = $1
			AND (deleted_at IS NOT NULL) = $2::boolean AND `+o.after("name_key", "id", "$3::text", "$4")+
			` AND name_key >= $6 AND name_key < $7 AND lower(display_name) LIKE $8
			ORDER BY `+o.by("name_key", "id")+` LIMIT $5::bigint`)
	}
	return lists
}

// Caller reads the user who makes the request, with the state of the token's session.
func (r *ReadBatch) Caller(userID, sessionID string, into **Caller) {
	home, err := region.HomeOf(userID)
	if err != nil {
		return
	}
	r.add(home, sqlCaller, scanOne(into, scanCaller), userID, sessionID)
}

// Users reads users by internal id, of any homes, in the order of the ids.
func (r *ReadBatch) Users(ids []string, into *[]User) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]User)
		r.add(home, sqlUsersByID, scanAll(part, scanUser), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
	r.Then(func() { SortUsers(*into, ids) })
}

// SortUsers puts users in the order of ids; those that are not among them come last, in the order they have.
func SortUsers(users []User, ids []string) {
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		if _, known := place[id]; !known {
			place[id] = i - len(ids) // below zero, which stands for all others
		}
	}
	slices.SortStableFunc(users, func(a, b User) int { return place[a.ID] - place[b.ID] })
}

// CreatorOf reads who made a community, where that user lives in the community's home.
func (r *ReadBatch) CreatorOf(communityID string, into *[]User) {
	r.ofContent(communityID, sqlCreatorOf, scanAll(into, scanUser))
}

// InsertUser inserts a user, unless it is there already.
func (w *Tx) InsertUser(u User, now time.Time) {
	w.exec(sqlUserInsert, u.ID, u.PublicID, u.DisplayName, NameKey(u.DisplayName, userNameKeyRunes), u.ProfileHandle, NameKey(u.ProfileHandle, userNameKeyRunes), now)
}

// SelectUser reads the user as it stands once the statements before it have run.
func (w *Tx) SelectUser(id string, into *[]User) {
	w.query(sqlUsersByID, scanAll(into, scanUser), []string{id})
}

// UserChange holds the fields of a profile to change; nil ones stay.
type UserChange struct {
	DisplayName, ProfileHandle, Description, AvatarFileID, AvatarCustomURL *string
	Roles                                                                  []string
	Metadata                                                               []byte // JSON
	IsBrand                                                                *bool
}

// UpdateUser changes a profile and reads it back; no row means that there is no such user.
func (w *Tx) UpdateUser(id string, c UserChange, now time.Time, into **User) {
	w.query(sqlUserUpdate, scanOne(into, scanUser), id, c.DisplayName, keyOf(c.DisplayName), c.ProfileHandle, c.Description,
		c.AvatarFileID, c.AvatarCustomURL, c.Roles, c.Metadata, now, keyOf(c.ProfileHandle), c.IsBrand)
}

// keyOf is the key of a name that changes; nil where it stays.
func keyOf(name *string) *string {
	if name == nil {
		return nil
	}
	key := NameKey(*name, userNameKeyRunes)
	return &key
}

// RenameUser changes what a session may change of a user.
func (w *Tx) RenameUser(id string, displayName, profileHandle *string, now time.Time) {
	var user *User
	w.UpdateUser(id, UserChange{DisplayName: displayName, ProfileHandle: profileHandle}, now, &user)
}

// BanUser sets or lifts the ban from the network.
func (w *Tx) BanUser(id string, banned bool, now time.Time, into **User) {
	w.query(sqlUserBan, scanOne(into, scanUser), id, banned, now)
}

// UserList is a page of users to read from every home.
type UserList struct {
	Flagged bool
	Deleted bool
	ByName  bool
	Desc    bool
	// Prefix of the name, or with Exact all of it; by name only.
	Prefix string
	Exact  bool
	// The position after which the page starts.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// pattern is the LIKE pattern of the names that are listed.
func (l UserList) pattern() string {
	if l.Exact {
		return strings.TrimSuffix(likePrefix(l.Prefix), "%")
	}
	return likePrefix(l.Prefix)
}

// UsersByHandle reads up to 100 users of every home whose profile has this handle, whatever its case.
func (r *ReadBatch) UsersByHandle(handle string, into *[]User) {
	*into = nil
	for _, home := range region.All() {
		part := new([]User)
		r.add(home, sqlUsersByHandle, scanAll(part, scanUser), NameKey(handle, userNameKeyRunes), strings.ToLower(handle))
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// UserListRow is a user with the key that its list is ordered by.
type UserListRow struct {
	User
	Key string
}

func scanUserByName(rows pgx.Rows) (UserListRow, error) {
	var u UserListRow
	err := rows.Scan(append(u.fields(), &u.Key)...)
	return u, err
}

func scanUserByTime(rows pgx.Rows) (UserListRow, error) {
	u, err := scanUser(rows)
	return UserListRow{User: u}, err
}

// ListUsers reads up to Limit users of each home into into, home by home.
func (r *ReadBatch) ListUsers(l UserList, into *[]UserListRow) {
	*into = nil
	for _, home := range region.All() {
		part := new([]UserListRow)
		if l.ByName {
			low, high := prefixRange(NameKey(l.Prefix, userNameKeyRunes))
			r.add(home, userLists["all"+pick(l.Desc, orderNameDesc, orderNameAsc).name], scanAll(part, scanUserByName),
				l.Deleted, l.AfterKey, l.AfterID, l.Limit, low, high, l.pattern())
		} else {
			filter := "all"
			if l.Flagged {
				filter = "flagged"
			}
			r.add(home, userLists[filter+pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name], scanAll(part, scanUserByTime),
				l.Deleted, l.AfterTime, l.AfterID, l.Limit)
		}
		r.Then(func() { *into = append(*into, *part...) })
	}
}
