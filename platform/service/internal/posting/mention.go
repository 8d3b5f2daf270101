package posting

import (
	"context"
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ResolveMentions resolves the mentioned users of a request. Unknown users are left out, because mentioning a deleted
// user is allowed, and so are users whom the caller may not contact.
func ResolveMentions(ctx context.Context, d *service.Deps, mentionees []*plazav1.Mentionee) ([]view.Mention, error) {
	var all []string
	for _, m := range mentionees {
		all = append(all, m.GetUserIds()...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	found, err := d.Directory.Resolve(ctx, all...)
	if err != nil {
		return nil, err
	}
	blocks, err := contact.Load(ctx, d, slices.Collect(maps.Values(found)))
	if err != nil {
		return nil, err
	}
	out := make([]view.Mention, 0, len(mentionees))
	for _, m := range mentionees {
		mention := view.Mention{Type: "user"}
		for _, id := range m.GetUserIds() {
			if found[id] != "" && blocks.MayContact(found[id]) {
				mention.UserIDs = append(mention.UserIDs, id)
				mention.UserInternalIDs = append(mention.UserInternalIDs, found[id])
			}
		}
		if mention.UserPublicIDs = mention.UserIDs; len(mention.UserIDs) > 0 {
			out = append(out, mention)
		}
	}
	return out, nil
}

// EditedMentions returns the mentionees of a row after an edit: those that were resolved if the request names some or
// clears them, the present ones otherwise.
func EditedMentions(given []*plazav1.Mentionee, resolved []view.Mention, held []byte, cleared []string) []byte {
	if len(given) > 0 || slices.Contains(cleared, "mentionees") {
		return view.MentionsJSON(resolved)
	}
	return held
}
