package messaging

import (
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
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
	Deleted       core.Deleted
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
	return []any{
		core.EmptyIfNil(l.Types), core.EmptyIfNil(l.Tags), core.EmptyIfNil(l.Without), string(l.Deleted), core.EmptyIfNil(l.Archived),
		l.OnlyArchived,
	}
}

// names returns the parameters of a prefix: the range of the keys of all names with the prefix, and a pattern for the
// part of the name that the key does not contain.
func (l ChannelList) names(keyRunes int) []any {
	low, high := core.PrefixRange(core.NameKey(l.Prefix, keyRunes))
	return []any{low, high, core.LikePrefix(l.Prefix)}
}

// The statements of ChannelsOf.
var (
	channelsOfUserByActivity = channelsOfUser("ByActivity", "last_activity")
	channelsOfUserByCreation = channelsOfUser("ByCreation", "created_at")
)

// pagesOfChannels are the statements of ListChannels in one order.
type pagesOfChannels struct{ pages, windows core.Directions }

var channelLists = [...]pagesOfChannels{
	ChannelsByActivity: listedChannels("Activity", "last_activity", "channels_by_activity", "", "", 13),
	ChannelsByCreation: listedChannels("Creation", "created_at", "channels_by_created", "", "", 13),
	ChannelsByName: listedChannels("Name", "name_key", "channels_by_name", ` AND name_key >= $14::text AND name_key < $15::text`,
		` AND lower(display_name) LIKE $16::text`, 16),
}

// listedChannels registers the statements of a list of a home's public channels, or of the others, by the index in the order of the list.
// Without the hint, CockroachDB may read all channels of the home and sort them. condition has an index and filter has none.
func listedChannels(name, column, index, condition, filter string, args int) pagesOfChannels {
	s := core.Source{
		Name: "channels.listBy" + name, Zeros: db.Zeros[ChannelKey](),
		Columns: `id, name_key, ` + core.Pick(core.IsName(column), "created_at", column),
		From:    `channels /*@{FORCE_INDEX=` + index + `}*/ AS c WHERE c.home = $1 AND c.is_public = $8::boolean` + condition,
		Filter: channelFilter("c.id") + ` AND NOT ($9::boolean AND EXISTS (SELECT 1 FROM channel_users AS u
			WHERE u.home = $1 AND u.channel_id = c.id AND u.user_id = $10 AND u.membership = 'member'))` + filter,
		After: 11, Args: args,
	}
	return pagesOfChannels{core.OrderedBy(core.PlainOrders, column, s.Page), core.OrderedBy(core.PlainOrders, column, s.Window)}
}

// channelsOfUser reads each channel by its primary key, see members.byUser.
func channelsOfUser(name, column string) *db.Statement {
	return db.Register("channels.ofUser"+name, `SELECT c.id, c.name_key, c.`+column+` FROM channel_users AS u CROSS JOIN LATERAL (
			SELECT id, name_key, display_name, type, tags, deleted_at, last_activity, created_at FROM channels
			WHERE home = $1 AND id = u.channel_id LIMIT 1) AS c
			WHERE u.home = $1 AND u.user_id = $8 AND u.membership = 'member'`+channelFilter("u.channel_id")+` AND ($9::text = '%'
				OR lower(c.display_name) LIKE $9::text)`)
}

// ListChannels reads the keys of up to Limit public or private channels of each home, home by home.
func (r ReadBatch) ListChannels(l ChannelList, public bool, into *[]ChannelKey) {
	after := core.Position{Time: l.AfterTime, Key: l.AfterKey, ID: l.AfterID}
	args := func(after core.Position, limit int) []any { return l.args(public, after, limit) }
	for _, home := range region.All() {
		w := core.Windows[ChannelKey]{
			Home: home, After: after, Limit: l.Limit, Statement: channelLists[l.Order].windows.In(l.Desc), Args: args,
			Rows: func(found []core.Position, into *[]ChannelKey) {
				for _, p := range found {
					*into = append(*into, ChannelKey{p.ID, p.Key, p.Time})
				}
			},
		}
		if l.isFiltered(public) {
			core.ReadWindows(r.ReadBatch, w, into)
			continue
		}
		at := func(k ChannelKey) core.Position { return core.Position{Time: k.Time, Key: k.NameKey, ID: k.ID} }
		core.ReadPage(r.ReadBatch, channelLists[l.Order].pages.In(l.Desc), l.Desc, at, w, into)
	}
}

func (l ChannelList) args(public bool, after core.Position, limit int) []any {
	args := append(l.filter(), public, l.NotMine, l.MemberID)
	if l.Order == ChannelsByName {
		return append(append(args, after.Key, after.ID, limit), l.names(keyRunes(public))...)
	}
	return append(args, after.Time, after.ID, limit)
}

// keyRunes returns how many letters of their names the keys of channels have.
func keyRunes(public bool) int {
	return core.Pick(public, core.PublicNameKeyRunes, privateNameKeyRunes)
}

// isFiltered reports whether the list has a filter without an index.
func (l ChannelList) isFiltered(public bool) bool {
	return len(l.Types)+len(l.Tags)+len(l.Without) > 0 || l.Deleted == core.DeletedOnly ||
		l.OnlyArchived || utf8.RuneCountInString(l.Prefix) > keyRunes(public)
}

// ChannelsOf reads the keys of all channels of the user MemberID that match the filter, without paging.
func (r ReadBatch) ChannelsOf(l ChannelList, into *[]ChannelKey) {
	list := core.Pick(l.Order == ChannelsByActivity, channelsOfUserByActivity, channelsOfUserByCreation)
	core.ReadEveryHome(r.ReadBatch, list, into, append(l.filter(), l.MemberID, core.LikePrefix(l.Prefix))...)
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

// The statements of ListChannelUsers, and those of their windows. Moderators and muted users need none: they are few.
var (
	channelUsersByCreation      = core.OrderedBy(core.CreatedOrders, "created_at", listedUsers("all", "", "", 8).List)
	channelModeratorsByCreation = core.OrderedBy(core.CreatedOrders, "created_at", listedUsers("moderators", " AND is_moderator", "", 8).List)
	mutedUsersByCreation        = core.OrderedBy(core.CreatedOrders, "created_at", listedUsers("muted", " AND has_mute", "", 8).List)
	channelUsersByName          = core.OrderedBy(core.NameOrders, "name_key", namedChannelUsers.List)

	channelUserWindowsByCreation = core.OrderedBy(core.CreatedOrders, "created_at", listedUsers("all", "", "", 8).Window)
	channelUserWindowsByName     = core.OrderedBy(core.NameOrders, "name_key", namedChannelUsers.Window)

	namedChannelUsers = listedUsers("all", ` AND name_key >= $9::text AND name_key < $10::text`,
		` AND lower(user_public_id) LIKE $11::text`, 11)
)

// listedUsers returns a list of users of a channel with a condition that has an index, a filter that has none, and a number of
// arguments.
func listedUsers(name, condition, filter string, args int) core.Source {
	return core.Source{
		Name: "channelUsers.list." + name, Columns: channelUserColumns + `, name_key`,
		From: `channel_users WHERE home = $1 AND channel_id = $2 AND membership = $3` + condition,
		Filter: ` AND (cardinality($4::text[]) = 0 OR roles && $4::text[])
			AND ($5::timestamptz IS NULL OR muted_until > $5::timestamptz)` + filter,
		ID: "user_id", After: 6, Args: args,
	}
}

// ListChannelUsers reads up to Limit users of a channel.
func (r ReadBatch) ListChannelUsers(l ChannelUserList, into *[]ChannelUserRow) {
	*into = nil
	home := r.HomeOrNone(l.ChannelID)
	after := core.Position{Time: l.AfterTime, Key: l.AfterKey, ID: l.AfterID}
	lists, windowed := l.statements()
	if !l.isFiltered() {
		r.Add(home, lists.In(l.Desc), db.Rows(into), l.args(after, l.Limit)...)
		return
	}
	core.ReadWindows(r.ReadBatch, core.Windows[ChannelUserRow]{
		Home: home, After: after, Limit: l.Limit, Statement: windowed.In(l.Desc), Args: l.args,
		Rows: core.RowsAt(r.ReadBatch, func(ids []string, into *[]ChannelUser) { r.ChannelUsers(l.ChannelID, ids, into) },
			func(u ChannelUser, at map[string]core.Position) (ChannelUserRow, bool) {
				return ChannelUserRow{u, at[u.UserID].Key}, true
			}),
	}, into)
}

// statements returns the statements of the list and of its windows.
func (l ChannelUserList) statements() (lists, windowed core.Directions) {
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

func (l ChannelUserList) args(after core.Position, limit int) []any {
	args := []any{l.ChannelID, l.Membership, core.EmptyIfNil(l.Roles), l.MutedAt}
	if l.ByName {
		low, high := core.PrefixRange(core.NameKey(l.Prefix, core.PersonNameKeyRunes))
		return append(args, after.Key, db.Other(after.ID), limit, low, high, core.LikePrefix(l.Prefix))
	}
	return append(args, after.Time, db.Other(after.ID), limit)
}

func (l ChannelUserList) ofModerators() bool {
	return !l.ByName && len(l.Roles) == 1 && l.Roles[0] == roleChannelModerator && l.Membership == ChannelMember
}

// isFiltered reports whether the list has a filter without an index.
func (l ChannelUserList) isFiltered() bool {
	byIndex := !l.ByName && l.MutedAt != nil || l.ofModerators()
	return (len(l.Roles) > 0 || l.MutedAt != nil) && !byIndex || utf8.RuneCountInString(l.Prefix) > core.PersonNameKeyRunes
}
