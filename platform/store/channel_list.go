package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// ChannelOrder is what a list of channels goes by.
type ChannelOrder int

// The orders of channels.
const (
	ChannelsByActivity ChannelOrder = iota
	ChannelsByCreation
	ChannelsByName
)

// ChannelList is a page of channels to read.
type ChannelList struct {
	// Types keeps those of the types; empty keeps all.
	Types []string
	// Tags keeps those that have any of the tags, Without those that have none of them; empty keeps all.
	Tags, Without []string
	Deleted       Deleted
	// Prefix is the beginning of the name; it goes with ChannelsByName.
	Prefix string
	Order  ChannelOrder
	Desc   bool
	// NotMine leaves out those that the user MemberID belongs to.
	NotMine  bool
	MemberID string
	// The position after which the page starts.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// ChannelKey is a channel's place in lists: Time in those by activity and creation, NameKey in those by name.
type ChannelKey struct {
	ID      string
	NameKey string
	Time    time.Time
}

func scanChannelKey(rows pgx.Rows) (ChannelKey, error) {
	var k ChannelKey
	err := rows.Scan(&k.ID, &k.NameKey, &k.Time)
	return k, err
}

// channelFilter keeps what a list asks for; its parameters are those of ChannelList.filter.
const channelFilter = ` AND (cardinality($2::text[]) = 0 OR c.type = ANY($2::text[])) AND (cardinality($3::text[]) = 0 OR c.tags && $3::text[])
	AND NOT (c.tags && $4::text[]) AND ($5::text = 'any' OR ($5::text = 'deleted') = (c.deleted_at IS NOT NULL))`

func (l ChannelList) filter() []any {
	return []any{texts(l.Types), texts(l.Tags), texts(l.Without), string(l.Deleted)}
}

// names are the parameters of a prefix: the range of keys, which holds for the key of every name that begins with it, and the pattern
// that settles what the key does not.
func (l ChannelList) names(keyRunes int) []any {
	low, high := prefixRange(NameKey(l.Prefix, keyRunes))
	return []any{low, high, likePrefix(l.Prefix)}
}

// channelTime is the time of an order's key.
func channelTime(o ChannelOrder) string {
	if o == ChannelsByActivity {
		return "last_activity"
	}
	return "created_at"
}

type channelListKey struct {
	order ChannelOrder
	desc  bool
}

var (
	channelLists    = makeChannelLists()
	channelsOfUsers = makeChannelsOfUsers()
)

func makeChannelLists() map[channelListKey]*Statement {
	lists := map[channelListKey]*Statement{}
	const head = ` FROM channels AS c WHERE c.home = $1 AND c.is_public = $6::boolean` + channelFilter +
		` AND NOT ($7::boolean AND EXISTS (SELECT 1 FROM channel_users AS u WHERE u.home = $1 AND u.channel_id = c.id AND u.user_id = $8 AND u.membership = 'member'))`
	for _, desc := range []bool{true, false} {
		for name, order := range map[string]ChannelOrder{"Activity": ChannelsByActivity, "Creation": ChannelsByCreation} {
			o, key := listOrder{"By" + name, desc}, "c."+channelTime(order)
			lists[channelListKey{order, desc}] = stmt("channels.list"+o.name+pick(desc, "Desc", "Asc"), `SELECT c.id, c.name_key, `+key+head+
				` AND `+o.after(key, "c.id", "$9::timestamptz", "$10")+` ORDER BY `+o.by(key, "c.id")+` LIMIT $11::bigint`)
		}
		o := listOrder{"ByName", desc}
		lists[channelListKey{ChannelsByName, desc}] = stmt("channels.listByName"+pick(desc, "Desc", "Asc"), `SELECT c.id, c.name_key, c.created_at`+head+
			` AND `+o.after("c.name_key", "c.id", "$9::text", "$10")+` AND c.name_key >= $12::text AND c.name_key < $13::text
			AND lower(c.display_name) LIKE $14::text ORDER BY `+o.by("c.name_key", "c.id")+` LIMIT $11::bigint`)
	}
	return lists
}

// makeChannelsOfUsers: one look for each channel, as members.byUser has for each user.
func makeChannelsOfUsers() map[ChannelOrder]*Statement {
	of := func(name, key string) *Statement {
		return stmt("channels.ofUser"+name, `SELECT c.id, c.name_key, c.`+key+` FROM channel_users AS u CROSS JOIN LATERAL (
			SELECT id, name_key, display_name, type, tags, deleted_at, last_activity, created_at FROM channels
			WHERE home = $1 AND id = u.channel_id LIMIT 1) AS c
			WHERE u.home = $1 AND u.user_id = $6 AND u.membership = 'member'`+channelFilter+` AND lower(c.display_name) LIKE $7::text`)
	}
	byCreation := of("ByCreation", "created_at")
	return map[ChannelOrder]*Statement{ChannelsByActivity: of("ByActivity", "last_activity"), ChannelsByCreation: byCreation, ChannelsByName: byCreation}
}

// ListChannels reads the places of up to Limit channels of each home, home by home: of public ones, or of the others.
func (r *ReadBatch) ListChannels(l ChannelList, public bool, into *[]ChannelKey) {
	args := append(l.filter(), public, l.NotMine, l.MemberID)
	if l.Order == ChannelsByName {
		runes := privateNameKeyRunes
		if public {
			runes = PublicNameKeyRunes
		}
		args = append(append(args, l.AfterKey, l.AfterID, l.Limit), l.names(runes)...)
	} else {
		args = append(args, l.AfterTime, l.AfterID, l.Limit)
	}
	for _, home := range region.All() {
		part := new([]ChannelKey)
		r.add(home, channelLists[channelListKey{l.Order, l.Desc}], scanAll(part, scanChannelKey), args...)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// ChannelsOf reads the places of all channels that the user MemberID belongs to and that the list keeps, whatever its page.
func (r *ReadBatch) ChannelsOf(l ChannelList, into *[]ChannelKey) {
	for _, home := range region.All() {
		part := new([]ChannelKey)
		r.add(home, channelsOfUsers[l.Order], scanAll(part, scanChannelKey), append(l.filter(), l.MemberID, likePrefix(l.Prefix))...)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// ChannelUserList is a page of the users of one channel.
type ChannelUserList struct {
	ChannelID  string
	Membership string
	// MutedAt keeps the members who are muted at a time; nil keeps all.
	MutedAt *time.Time
	// Roles keeps those that have any of the roles; empty keeps all.
	Roles []string
	// ByName orders by public id, else by when the user was first concerned with the channel.
	ByName bool
	Desc   bool
	// Prefix is the beginning of the public id; it goes with ByName.
	Prefix string
	// The position after which the page starts.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// ChannelUserRow is a user of a channel with their place in lists by name.
type ChannelUserRow struct {
	ChannelUser
	NameKey string
}

func scanChannelUserRow(rows pgx.Rows) (ChannelUserRow, error) {
	var u ChannelUserRow
	err := rows.Scan(append(u.fields(), &u.NameKey)...)
	return u, err
}

var channelUserLists = makeChannelUserLists()

func makeChannelUserLists() map[string]*Statement {
	lists := map[string]*Statement{}
	const head = `SELECT ` + channelUserColumns + `, name_key FROM channel_users WHERE home = $1 AND channel_id = $2 AND membership = $3`
	const filter = ` AND (cardinality($4::text[]) = 0 OR roles && $4::text[]) AND ($5::timestamptz IS NULL OR muted_until > $5::timestamptz)`
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		page := ` AND ` + o.after("created_at", "user_id", "$6::timestamptz", "$7") + ` ORDER BY ` + o.by("created_at", "user_id") + ` LIMIT $8::bigint`
		for source, narrow := range map[string]string{"all": "", "moderators": " AND is_moderator", "muted": " AND muted_until IS NOT NULL"} {
			lists[source+o.name] = stmt("channelUsers.list."+source+o.name, head+narrow+filter+page)
		}
	}
	for _, o := range []listOrder{orderNameDesc, orderNameAsc} {
		lists["all"+o.name] = stmt("channelUsers.list.all"+o.name, head+filter+` AND `+o.after("name_key", "user_id", "$6::text", "$7")+
			` AND name_key >= $9::text AND name_key < $10::text AND lower(user_public_id) LIKE $11::text
			ORDER BY `+o.by("name_key", "user_id")+` LIMIT $8::bigint`)
	}
	return lists
}

// ListChannelUsers reads up to Limit users of a channel.
func (r *ReadBatch) ListChannelUsers(l ChannelUserList, into *[]ChannelUserRow) {
	home, err := region.HomeOf(l.ChannelID)
	if err != nil {
		return
	}
	args := []any{l.ChannelID, l.Membership, texts(l.Roles), l.MutedAt}
	if l.ByName {
		low, high := prefixRange(NameKey(l.Prefix, userNameKeyRunes))
		args = append(args, l.AfterKey, l.AfterID, l.Limit, low, high, likePrefix(l.Prefix))
		r.add(home, channelUserLists["all"+pick(l.Desc, orderNameDesc, orderNameAsc).name], scanAll(into, scanChannelUserRow), args...)
		return
	}
	source := "all"
	switch {
	case l.MutedAt != nil:
		source = "muted" // few among many, as moderators are
	case len(l.Roles) == 1 && l.Roles[0] == roleChannelModerator && l.Membership == ChannelMember:
		source = "moderators"
	}
	args = append(args, l.AfterTime, l.AfterID, l.Limit)
	r.add(home, channelUserLists[source+pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name], scanAll(into, scanChannelUserRow), args...)
}
