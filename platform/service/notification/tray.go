package notification

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/notify"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// trayLimit is the usual page size.
const trayLimit = 20

// ListTrayItems lists the items of the caller's tray, the latest first.
func (s *Service) ListTrayItems(ctx context.Context, req *plazav1.ListTrayItemsRequest) (*plazav1.ListTrayItemsResponse, error) {
	var rows []notify.TrayRow
	r := s.NewUserRequest(ctx)
	cursor := r.PageOf(req.GetOptions(), trayLimit)
	list := notify.TrayList{UserID: r.Caller.UserID, Desc: !cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	r.ListTray(list, &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := page.Window(cursor, rows, func(i notify.TrayRow) (time.Time, string, string) { return i.LastOccurredAt, "", i.ID })
	rows = slices.DeleteFunc(rows, func(i notify.TrayRow) bool { return i.Actors == 0 })
	actors, users, err := s.actors(ctx, r.Caller.UserID, rows)
	if err != nil {
		return nil, err
	}
	shown := s.View.Users(ctx, users)
	byID := usersByID(shown)
	items := service.Map(rows, func(row notify.TrayRow) *plazav1.NotificationTrayItem {
		return trayItem(row, actors[row.ID], byID)
	})
	return &plazav1.ListTrayItemsResponse{NotificationTrayItems: items, Users: shown, Paging: paging}, nil
}

// actors reads the latest actors of items, by item, and their users.
func (s *Service) actors(ctx context.Context, userID string, rows []notify.TrayRow) (map[string][]notify.TrayActor, []people.User, error) {
	if len(rows) == 0 {
		return nil, nil, nil
	}
	var all []notify.TrayActor
	reads := s.Store.NewReadBatch()
	reads.TrayActors(userID, service.Map(rows, func(row notify.TrayRow) string { return row.ID }), &all)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	byItem := map[string][]notify.TrayActor{}
	for _, a := range all {
		byItem[a.ItemID] = append(byItem[a.ItemID], a)
	}
	ids := service.SortedSet(service.Map(all, func(a notify.TrayActor) string { return a.ActorID }))
	users, err := service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).Users, ids)
	return byItem, users, err
}

// usersByID returns users by internal id.
func usersByID(users []*plazav1.User) map[string]*plazav1.User {
	byID := make(map[string]*plazav1.User, len(users))
	for _, u := range users {
		byID[u.GetUserInternalId()] = u
	}
	return byID
}

// trayItem converts an item.
func trayItem(row notify.TrayRow, actors []notify.TrayActor, users map[string]*plazav1.User) *plazav1.NotificationTrayItem {
	k := kinds[row.Kind]
	item := &plazav1.NotificationTrayItem{
		PrivateId: row.ID, LastOccurredAt: timestamppb.New(row.LastOccurredAt), LastSeenAt: timestampOf(row.LastSeenAt),
		ActorsCount: narrow.To[int32](row.Actors), ActionType: k.action,
		TargetId: row.TargetPublicID, TargetType: row.TargetType, ReferenceId: row.ReferenceID, ReferenceType: row.ReferenceType,
		ActionReferenceId: row.ActionID, ActionReferenceType: k.actionType, DaySegment: timestamppb.New(row.Day),
		ParentId: optional(row.ParentID), RootId: optional(row.RootID), LatestCommentId: optional(row.CommentID),
		TrayItemCategory: optional(k.category),
	}
	var names []string
	for _, a := range actors {
		actor := &plazav1.TrayActor{PrivateId: a.ActorID, LastActedAt: timestamppb.New(a.ActedAt)}
		if u := users[a.ActorID]; u != nil {
			actor.PublicId = u.GetUserPublicId()
			names = append(names, u.GetDisplayName())
		}
		item.Actors = append(item.Actors, actor)
	}
	item.Text = sentence(names, int(row.Actors), k.text, "")
	item.TemplatedText = sentence(names, int(row.Actors), k.text, "{{")
	return item
}

// sentence returns a text such as Alice and 2 others reacted to your post. Names have a mark before them, and its reverse after
// them.
func sentence(names []string, actors int, text, mark string) string {
	end := strings.ReplaceAll(mark, "{", "}")
	who := "Someone"
	if len(names) > 0 {
		who = mark + names[0] + end
	}
	switch others := actors - 1; {
	case others == 1 && len(names) > 1:
		who += " and " + mark + names[1] + end
	case others == 1:
		who += " and " + mark + "1 other" + end
	case others > 1:
		who += " and " + mark + fmt.Sprint(others, " others") + end
	}
	return who + " " + text
}

func timestampOf(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
