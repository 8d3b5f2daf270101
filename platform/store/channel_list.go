package store

import (
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// ChannelOrder is the order of a list of channels.
type ChannelOrder int

// The orders of channels.
const (
	ChannelsByActivity ChannelOrder = iota
	ChannelsByCreation
	ChannelsByName
)

// ChannelList is a page of channels.
type ChannelList struct {
	// Types filters by type; empty means all.
	Types []string
	// Tags selects channels with any of the tags, Without channels with none of them; empty means all.
	Tags, Without []string
	Deleted       Deleted
	// Prefix is the prefix of the name; it requires ChannelsByName.
	Prefix string
	Order  ChannelOrder
	Desc   bool
	// NotMine excludes the channels of the user MemberID.
	NotMine  bool
	MemberID string
	// Archived are the ids of the channels that MemberID has archived. The list consists of those if OnlyArchived is set,
	// and of others otherwise.
	Archived     []string
	OnlyArchived bool
	// The position that the page starts after.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// ChannelKey is the position of a channel in a list: Time if ordered by activity or creation, NameKey if ordered by
// name.
type ChannelKey struct {
	ID      string
	NameKey string
	Time    time.Time
}

// channelFilter returns the filter of channel lists. Its parameters are those of ChannelList.filter, id is the column of
// the channels' ids to compare with those of archived ones.
func channelFilter(id string) string {
	return ` AND (cardinality($2::text[]) = 0 OR c.type = ANY($2::text[])) AND (cardinality($3::text[]) = 0 OR c.tags && $3::text[])
	AND NOT (c.tags && $4::text[]) AND ($5::text = 'any' OR ($5::text = 'deleted') = (c.deleted_at IS NOT NULL))
	AND (` + id + ` = ANY($6::text[])) = $7::boolean`
}

func (l ChannelList) filter() []any {
	return []any{emptyIfNil(l.Types), emptyIfNil(l.Tags), emptyIfNil(l.Without), string(l.Deleted), emptyIfNil(l.Archived), l.OnlyArchived}
}

// names returns the parameters of a prefix: the range of the keys of all names with the prefix, and a pattern for the
// part of the name that the key does not contain.
func (l ChannelList) names(keyRunes int) []any {
	low, high := prefixRange(NameKey(l.Prefix, keyRunes))
	return []any{low, high, likePrefix(l.Prefix)}
}

// The statements of ListChannels and ChannelsOf by their order.
var (
	channelLists    = [...]directions{ChannelsByActivity: channelsByTime("Activity", "last_activity", "channels_by_activity"), ChannelsByCreation: channelsByTime("Creation", "created_at", "channels_by_created"), ChannelsByName: channelsByName()}
	channelsOfUsers = [...]*db.Statement{
		ChannelsByActivity: channelsOfUser("ByActivity", "last_activity"), ChannelsByCreation: channelsOfUserByCreation, ChannelsByName: channelsOfUserByCreation,
	}
	channelsOfUserByCreation = channelsOfUser("ByCreation", "created_at")
)

// channelListFrom are a home's public channels, or the others, by the index in the order of the list. Without the hint, CockroachDB may
// read all channels of the home and sort them.
func channelListFrom(index string) string {
	return `channels /*@{FORCE_INDEX=` + index + `}*/ AS c WHERE c.home = $1 AND c.is_public = $8::boolean AND `
}

// Parts of these statements that have no index: the filter of a list, and a prefix of names.
var channelListFilter = channelFilter("c.id") +
	` AND NOT ($9::boolean AND EXISTS (SELECT 1 FROM channel_users AS u WHERE u.home = $1 AND u.channel_id = c.id AND u.user_id = $10 AND u.membership = 'member'))`

const channelHasName = ` AND lower(c.display_name) LIKE $16::text`

func channelsByTime(name, column, index string) directions {
	return inBoth(plainOrders, func(o db.Order) *db.Statement {
		from := channelListFrom(index) + o.After("c."+column, "c.id", "$11::timestamptz", "$12")
		return stmt("channels.listBy"+name+o.Name, boundedPage(`id, name_key, `+column, db.Zeros[ChannelKey](), o.By(column, "id"), from, channelListFilter, 13))
	})
}

func channelsByName() directions {
	return inBoth(plainOrders, func(o db.Order) *db.Statement {
		return stmt("channels.listByName"+o.Name, boundedPage(`id, name_key, created_at`, db.Zeros[ChannelKey](), o.By("name_key", "id"), channelsNamed(o), channelListFilter+channelHasName, 13))
	})
}

func channelsNamed(o db.Order) string {
	return channelListFrom("channels_by_name") + o.After("c.name_key", "c.id", "$11::text", "$12") + ` AND c.name_key >= $14::text AND c.name_key < $15::text`
}

// channelWindows are the statements of windows of these lists.
var channelWindows = [...]directions{
	ChannelsByActivity: channelWindowsByTime("Activity", "c.last_activity", "channels_by_activity"),
	ChannelsByCreation: channelWindowsByTime("Creation", "c.created_at", "channels_by_created"),
	ChannelsByName: inBoth(plainOrders, func(o db.Order) *db.Statement {
		return window("channels.listByName", o, nameKey(o, "c.name_key", "c.id"), channelsNamed(o), channelListFilter+channelHasName, 13, 17)
	}),
}

func channelWindowsByTime(name, column, index string) directions {
	return inBoth(plainOrders, func(o db.Order) *db.Statement {
		from := channelListFrom(index) + o.After(column, "c.id", "$11::timestamptz", "$12")
		return window("channels.listBy"+name, o, timeKey(o, column, "c.id"), from, channelListFilter, 13, 14)
	})
}

// channelsOfUser reads each channel by its primary key, see members.byUser.
func channelsOfUser(name, column string) *db.Statement {
	return stmt("channels.ofUser"+name, `SELECT c.id, c.name_key, c.`+column+` FROM channel_users AS u CROSS JOIN LATERAL (
			SELECT id, name_key, display_name, type, tags, deleted_at, last_activity, created_at FROM channels
			WHERE home = $1 AND id = u.channel_id LIMIT 1) AS c
			WHERE u.home = $1 AND u.user_id = $8 AND u.membership = 'member'`+channelFilter("u.channel_id")+` AND ($9::text = '%' OR lower(c.display_name) LIKE $9::text)`)
}

// ListChannels reads the keys of up to Limit public or private channels of each home, home by home.
func (r *ReadBatch) ListChannels(l ChannelList, public bool, into *[]ChannelKey) {
	after := Position{l.AfterTime, l.AfterKey, l.AfterID, 0}
	args := func(after Position, limit int) []any { return l.args(public, after, limit) }
	for _, home := range region.All() {
		w := windows[ChannelKey]{
			home: home, after: after, limit: l.Limit, statement: channelWindows[l.Order].in(l.Desc), args: args,
			rows: func(found []Position, into *[]ChannelKey) {
				for _, p := range found {
					*into = append(*into, ChannelKey{p.ID, p.Key, p.Time})
				}
			},
		}
		if l.isFiltered(public) {
			readWindows(r, w, into)
			continue
		}
		at := func(k ChannelKey) Position { return Position{k.Time, k.NameKey, k.ID, 0} }
		readPage[listedChannel](r, channelLists[l.Order].in(l.Desc), l.Desc, at, w, into)
	}
}

// listedChannel is a row of a statement of channelLists.
type listedChannel struct {
	ChannelKey
	IsMore bool
}

func (c listedChannel) split() (ChannelKey, bool) { return c.ChannelKey, c.IsMore }

func (l ChannelList) args(public bool, after Position, limit int) []any {
	args := append(l.filter(), public, l.NotMine, l.MemberID)
	if l.Order == ChannelsByName {
		return append(append(args, after.Key, after.ID, limit), l.names(keyRunes(public))...)
	}
	return append(args, after.Time, after.ID, limit)
}

// keyRunes returns how many letters of their names the keys of channels have.
func keyRunes(public bool) int { return pick(public, PublicNameKeyRunes, privateNameKeyRunes) }

// isFiltered reports whether the list has a filter without an index.
func (l ChannelList) isFiltered(public bool) bool {
	return len(l.Types)+len(l.Tags)+len(l.Without) > 0 || l.Deleted == DeletedOnly || l.OnlyArchived || utf8.RuneCountInString(l.Prefix) > keyRunes(public)
}

// ChannelsOf reads the keys of all channels of the user MemberID that match the filter, without paging.
func (r *ReadBatch) ChannelsOf(l ChannelList, into *[]ChannelKey) {
	readEveryHome(r, channelsOfUsers[l.Order], into, append(l.filter(), l.MemberID, likePrefix(l.Prefix))...)
}

// ChannelUserList is a page of the users of one channel.
type ChannelUserList struct {
	ChannelID  string
	Membership string
	// MutedAt selects the members who are muted at that time; nil means all.
	MutedAt *time.Time
	// Roles selects users with any of the roles; empty means all.
	Roles []string
	// ByName orders by public id, otherwise by the creation of the row.
	ByName bool
	Desc   bool
	// Prefix is the prefix of the public id; it requires ByName.
	Prefix string
	// The position that the page starts after.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// ChannelUserRow is a user of a channel with the key of lists by name.
type ChannelUserRow struct {
	ChannelUser
	NameKey string
}

// The statements of ListChannelUsers.
var (
	channelUsersByCreation      = channelUsersByTime("all", "")
	channelModeratorsByCreation = channelUsersByTime("moderators", " AND is_moderator")
	mutedUsersByCreation        = channelUsersByTime("muted", " AND has_mute")
	channelUsersByName          = inBoth(nameOrders, func(o db.Order) *db.Statement {
		return stmt("channelUsers.list.all"+o.Name, selectChannelUsers+channelUsersNamed(o)+channelUserFilter+channelUserHasName+
			` ORDER BY `+o.By("name_key", "user_id")+` LIMIT $8::bigint`)
	})

	selectChannelUsers = `SELECT ` + channelUserColumns + `, name_key FROM `
)

// The statements of windows of these lists. Moderators and muted users need none: they are few.
var (
	channelUserWindowsByCreation = inBoth(createdOrders, func(o db.Order) *db.Statement {
		from := channelUsersOf + ` AND ` + o.After("created_at", "user_id", "$6::timestamptz", "$7")
		return window("channelUsers.list.all", o, timeKey(o, "created_at", "user_id"), from, channelUserFilter, 8, 9)
	})
	channelUserWindowsByName = inBoth(nameOrders, func(o db.Order) *db.Statement {
		return window("channelUsers.list.all", o, nameKey(o, "name_key", "user_id"), channelUsersNamed(o), channelUserFilter+channelUserHasName, 8, 12)
	})
)

// Parts of these statements. channelUserFilter and channelUserHasName have no index.
const (
	channelUsersOf     = `channel_users WHERE home = $1 AND channel_id = $2 AND membership = $3`
	channelUserFilter  = ` AND (cardinality($4::text[]) = 0 OR roles && $4::text[]) AND ($5::timestamptz IS NULL OR muted_until > $5::timestamptz)`
	channelUserHasName = ` AND lower(user_public_id) LIKE $11::text`
)

func channelUsersNamed(o db.Order) string {
	return channelUsersOf + ` AND ` + o.After("name_key", "user_id", "$6::text", "$7") + ` AND name_key >= $9::text AND name_key < $10::text`
}

func channelUsersByTime(name, condition string) directions {
	return inBoth(createdOrders, func(o db.Order) *db.Statement {
		return stmt("channelUsers.list."+name+o.Name, selectChannelUsers+channelUsersOf+condition+channelUserFilter+
			` AND `+o.After("created_at", "user_id", "$6::timestamptz", "$7")+` ORDER BY `+o.By("created_at", "user_id")+` LIMIT $8::bigint`)
	})
}

// ListChannelUsers reads up to Limit users of a channel.
func (r *ReadBatch) ListChannelUsers(l ChannelUserList, into *[]ChannelUserRow) {
	*into = nil
	home, err := r.HomeOf(l.ChannelID)
	if err != nil {
		return
	}
	after := Position{l.AfterTime, l.AfterKey, l.AfterID, 0}
	lists, windowed := l.statements()
	if !l.isFiltered() {
		r.Add(home, lists.in(l.Desc), db.Rows(into), l.args(after, l.Limit)...)
		return
	}
	readWindows(r, windows[ChannelUserRow]{
		home: home, after: after, limit: l.Limit, statement: windowed.in(l.Desc), args: l.args,
		rows: func(found []Position, into *[]ChannelUserRow) {
			var users []ChannelUser
			keys := keysAt(found)
			r.ChannelUsers(l.ChannelID, idsAt(found), &users)
			r.Then(func() {
				for _, u := range users {
					*into = append(*into, ChannelUserRow{u, keys[u.UserID]})
				}
			})
		},
	}, into)
}

// statements returns the statements of the list and of its windows.
func (l ChannelUserList) statements() (lists, windowed directions) {
	switch {
	case l.ByName:
		return channelUsersByName, channelUserWindowsByName
	case l.MutedAt != nil: // muted users and moderators are few and have indexes of their own
		return mutedUsersByCreation, channelUserWindowsByCreation
	case l.ofModerators():
		return channelModeratorsByCreation, channelUserWindowsByCreation
	}
	return channelUsersByCreation, channelUserWindowsByCreation
}

func (l ChannelUserList) args(after Position, limit int) []any {
	args := []any{l.ChannelID, l.Membership, emptyIfNil(l.Roles), l.MutedAt}
	if l.ByName {
		low, high := prefixRange(NameKey(l.Prefix, userNameKeyRunes))
		return append(args, after.Key, db.Other(after.ID), limit, low, high, likePrefix(l.Prefix))
	}
	return append(args, after.Time, db.Other(after.ID), limit)
}

func (l ChannelUserList) ofModerators() bool {
	return !l.ByName && len(l.Roles) == 1 && l.Roles[0] == roleChannelModerator && l.Membership == ChannelMember
}

// isFiltered reports whether the list has a filter without an index.
func (l ChannelUserList) isFiltered() bool {
	byIndex := !l.ByName && l.MutedAt != nil || l.ofModerators()
	return (len(l.Roles) > 0 || l.MutedAt != nil) && !byIndex || utf8.RuneCountInString(l.Prefix) > userNameKeyRunes
}
