package channel

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// muted selects the members who are muted now.
const muted = "muted"

// ListChannelUsers lists the members of a channel, its muted members, its banned users, or several of these. The
// caller must be allowed to read the channel. channelUsers contains the users of the page only.
func (s *Service) ListChannelUsers(ctx context.Context, req *plazav1.ListChannelUsersRequest) (*plazav1.ListChannelUsersResponse, error) {
	found := s.newState(ctx, req.GetChannelId())
	cursor := found.Page(req.GetOptions())
	list := s.usersOf(req, cursor)
	memberships := membershipsOf(req)
	pages := make([][]messaging.ChannelUserRow, len(memberships))
	now := s.Now()
	for i, membership := range memberships {
		part := list
		if part.Membership = membership; membership == muted {
			part.Membership, part.MutedAt = messaging.ChannelMember, &now
		}
		found.ListChannelUsers(part, &pages[i])
	}
	found.Check(func() error { return found.CanRead(found.Caller) })
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, slices.Concat(pages...), list.ByName, list.Desc,
		func(u messaging.ChannelUserRow) (t time.Time, key, id string) {
			return u.CreatedAt, u.NameKey, u.UserID
		}, found.Stops()...)
	a := view.ChannelRows{Channels: []messaging.Channel{*found.Access.Channel}, OnlyUsers: true}
	a.ChannelUsers = service.Map(rows, func(row messaging.ChannelUserRow) messaging.ChannelUser { return row.ChannelUser })
	answer, err := s.respond(ctx, found.Request, found.settings, a)
	return view.Fill(answer, &plazav1.ListChannelUsersResponse{Paging: paging}), err
}

// membershipsOf returns the memberships that the request selects, in either of its two parameters, without
// repetitions. Muted users are members, so member includes muted.
func membershipsOf(req *plazav1.ListChannelUsersRequest) []string {
	wanted := req.GetMemberships()
	if len(wanted) == 0 && req.GetFilter() != "" && req.GetFilter() != "all" {
		wanted = strings.Split(req.GetFilter(), "&")
	}
	if len(wanted) == 0 {
		return []string{messaging.ChannelMember}
	}
	wanted = service.SortedSet(wanted)
	if slices.Contains(wanted, messaging.ChannelMember) {
		wanted = slices.DeleteFunc(wanted, func(membership string) bool { return membership == muted })
	}
	return wanted
}

// usersOf returns the query of a request. A search is always ordered by name, because that is the order of its index.
func (s *Service) usersOf(req *plazav1.ListChannelUsersRequest, cursor page.Cursor) messaging.ChannelUserList {
	list := messaging.ChannelUserList{
		ChannelID: chat.ChannelID(s.Deps, req.GetChannelId()),
		Roles:     slices.Concat(req.GetRoles(), req.GetRole()),
		ByName:    req.GetSortBy() == "displayName" || req.GetSearch() != "",
		Prefix:    req.GetSearch(),
		Limit:     cursor.Limit + 1,
	}
	list.Desc = (!list.ByName && req.GetSortBy() != "firstCreated") != cursor.Back
	list.AfterTime, list.AfterKey, list.AfterID = cursor.Start(list.Desc)
	return list
}
