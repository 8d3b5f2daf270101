// Package fileaccess decides who may read a restricted file: those who may read an object that refers to it, its
// uploader, and administrators. The access type of such a file is irrelevant.
//
//	object             who may read its files
//	post, story        users who may see it, see package visibility
//	comment            users who may see it and what it is on
//	message            users who may read its channel; a hidden one its author and moderators of the channel
//	poll, room, stream users who may see it: those who may see its post
//	event              users who may see it, see package visibility
//	avatar             everyone
//	pending edit       its author and the moderators, to whom it is shown
//	scheduled post     the uploader
package fileaccess

import (
	"context"
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
)

// maxUses is the number of uses per home by which RequireRead decides. A caller who may read a file only because of
// further ones needs the address that is in the response with the object.
const maxUses = 100

// maxSingle is the number of those uses that are decided about one by one.
const maxSingle = 10

// RequireObject returns nil if the caller, who is confirmed, may read the files of an object.
func RequireObject(ctx context.Context, d *service.Deps, caller *auth.Caller, object view.FileObject) error {
	switch object.Kind {
	case view.FileAvatar:
		return nil
	case core.UsePost:
		_, err := visibility.LoadPost(ctx, d, caller, object.ID)
		return err
	case core.UseStory:
		_, err := visibility.LoadStory(ctx, d, caller, object.ID)
		return err
	case core.UseComment:
		_, err := visibility.LoadComment(ctx, d, caller, object.ID)
		return err
	case core.UseMessage:
		return requireMessage(ctx, d, caller, object.ID)
	case core.UsePoll:
		return requirePoll(ctx, d, caller, object.ID)
	case core.UseRoom:
		return requireBroadcast(ctx, d, caller, object.ID, (*store.ReadBatch).Room, live.OfRoom)
	case core.UseStream:
		return requireBroadcast(ctx, d, caller, object.ID, (*store.ReadBatch).VideoStream, live.OfStream)
	case core.UseEvent:
		return requireEvent(ctx, d, caller, object.ID)
	}
	return fail.NotFound()
}

func requireMessage(ctx context.Context, d *service.Deps, caller *auth.Caller, id string) error {
	readable, err := readableMessages(ctx, d, caller, []string{id})
	if err == nil && !readable {
		err = fail.NotFound()
	}
	return err
}

// readableMessages reports whether the caller may read any of the messages.
func readableMessages(ctx context.Context, d *service.Deps, caller *auth.Caller, ids []string) (bool, error) {
	messages, err := service.Read(ctx, d, (*store.ReadBatch).MessageHeads, ids)
	if err != nil {
		return false, err
	}
	channels, err := channelsOf(ctx, d, messages)
	if err != nil || len(channels) == 0 {
		return false, err
	}
	access, err := chat.LoadAccess(ctx, d, caller, service.SortedSet(slices.Collect(maps.Values(channels))))
	return slices.ContainsFunc(messages, func(m messaging.Message) bool {
		a := access[channels[m.FeedID]]
		return m.DeletedAt == nil && a.CanRead(caller) == nil && a.Shows(caller, m)
	}), err
}

// channelsOf returns the channels of the subchannels, by the ids of these, of those messages that are not deleted with or
// without their subchannels.
func channelsOf(ctx context.Context, d *service.Deps, messages []messaging.Message) (map[string]string, error) {
	var ids []string
	for _, m := range messages {
		if m.DeletedAt == nil {
			ids = append(ids, m.FeedID)
		}
	}
	feeds, err := service.ReadAvailable(ctx, d, (*store.ReadBatch).MessageFeeds, service.SortedSet(ids))
	channels := map[string]string{}
	for _, f := range feeds {
		if f.DeletedAt == nil {
			channels[f.ID] = f.EntityID
		}
	}
	return channels, err
}

func requirePoll(ctx context.Context, d *service.Deps, caller *auth.Caller, id string) error {
	poll, err := service.Read(ctx, d, (*store.ReadBatch).Poll, id)
	switch {
	case err != nil:
		return err
	case poll == nil || poll.DeletedAt != nil:
		return fail.NotFound()
	case poll.PostID == "":
		return nil
	}
	_, err = visibility.LoadPost(ctx, d, caller, poll.PostID)
	return err
}

func requireEvent(ctx context.Context, d *service.Deps, caller *auth.Caller, id string) error {
	e, err := service.Read(ctx, d, (*store.ReadBatch).PlannedEvent, id)
	if err != nil {
		return err
	}
	_, err = visibility.RequireSeeEvent(ctx, d, caller, e)
	return err
}

// requireBroadcast decides about a room or a stream.
func requireBroadcast[Row any](
	ctx context.Context, d *service.Deps, caller *auth.Caller, id string, read func(*store.ReadBatch, string, **Row),
	of func(*Row) live.Broadcast,
) error {
	row, err := service.Read(ctx, d, read, id)
	if err != nil {
		return err
	}
	return live.RequireSee(ctx, d, caller, of(row))
}

// RequireRead returns nil if the caller, who is confirmed, may read a restricted file.
func RequireRead(ctx context.Context, d *service.Deps, caller *auth.Caller, f media.File) error {
	if auth.RequireSelf(caller, f.OwnerID) == nil {
		return nil
	}
	uses, err := service.ReadAvailable(ctx, d, readUses, f.ID)
	if err != nil {
		return err
	}
	byKind := idsByKind(uses)
	readable, err := readablePosts(ctx, d, caller, byKind[core.UsePost])
	if err == nil && !readable && len(byKind[core.UseMessage]) > 0 {
		readable, err = readableMessages(ctx, d, caller, byKind[core.UseMessage])
	}
	if err != nil || readable || hasAvatar(uses) {
		return err
	}
	return requireOneOf(ctx, d, caller, byKind)
}

func readUses(r *store.ReadBatch, fileID string, into *[]core.FileUse) {
	r.FileUses(fileID, maxUses, into)
}

func idsByKind(uses []core.FileUse) map[string][]string {
	ids := map[string][]string{}
	for _, use := range uses {
		ids[use.Kind] = append(ids[use.Kind], use.ObjectID)
	}
	return ids
}

func hasAvatar(uses []core.FileUse) bool {
	return service.Find(uses, func(u core.FileUse) bool {
		return u.Kind == core.UseUser || u.Kind == core.UseCommunity || u.Kind == core.UseCategory || u.Kind == core.UseChannel
	}) != nil
}

// readablePosts reports whether the caller may read any of the posts.
func readablePosts(ctx context.Context, d *service.Deps, caller *auth.Caller, ids []string) (bool, error) {
	posts, err := service.ReadAvailable(ctx, d, (*store.ReadBatch).PostHeads, ids)
	if err != nil || len(posts) == 0 {
		return false, err
	}
	kinds := map[string]string{}
	for _, p := range posts {
		if p.TargetType != visibility.OnContent {
			kinds[p.TargetID] = p.TargetType
		}
	}
	targets, err := visibility.LoadTargets(ctx, d, caller, kinds)
	return len(targets.VisiblePosts(caller, posts)) > 0, err
}

// requireOneOf returns nil if the caller may read one of the first objects of the other kinds.
func requireOneOf(ctx context.Context, d *service.Deps, caller *auth.Caller, ids map[string][]string) error {
	left := maxSingle
	for _, kind := range []string{core.UseComment, core.UseStory, core.UsePoll, core.UseRoom, core.UseStream, core.UseEvent} {
		for _, id := range ids[kind] {
			if left == 0 {
				return fail.NotAllowed()
			}
			left--
			err := RequireObject(ctx, d, caller, view.FileObject{Kind: kind, ID: id})
			if err == nil || !IsRefusal(err) {
				return err
			}
		}
	}
	return fail.NotAllowed()
}

// IsRefusal reports whether an error means that the caller may not read an object, and not that the decision failed.
func IsRefusal(err error) bool {
	e := fail.From(err)
	return e.Kind != fail.KindUnavailable && e.Code != fail.CodeUnexpected
}

// IsPublic reports whether everyone may read a restricted file with access type public by its id alone: it is an avatar
// as well, or in a post that everyone can see.
func IsPublic(ctx context.Context, d *service.Deps, f media.File) (bool, error) {
	if f.AccessType != media.AccessPublic {
		return false, nil
	}
	uses, err := service.ReadAvailable(ctx, d, readUses, f.ID)
	if err != nil || hasAvatar(uses) {
		return err == nil, err
	}
	posts, err := service.ReadAvailable(ctx, d, (*store.ReadBatch).PostHeads, idsByKind(uses)[core.UsePost])
	if err != nil {
		return false, err
	}
	var inCommunities []string
	for _, p := range posts {
		if p.DeletedAt == nil && p.FeedType == "published" && p.TargetType == "community" {
			inCommunities = append(inCommunities, p.TargetID)
		}
	}
	found, err := service.ReadAvailable(ctx, d, (*store.ReadBatch).Communities, inCommunities)
	open := service.Find(found, func(c communities.Community) bool { return c.IsPublic && c.DeletedAt == nil })
	return open != nil, err
}
