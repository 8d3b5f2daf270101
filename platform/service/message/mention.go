package message

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// readSettings reads what the network lets messages mention, where a request mentions a channel.
func readSettings(d *service.Deps, r *service.Request, list []*plazav1.MessageMention, into *store.Settings) {
	if slices.ContainsFunc(list, func(m *plazav1.MessageMention) bool { return m.GetType() == view.MentionChannel }) {
		r.Settings(d.Region, into)
	}
}

// mentions resolves whom a request mentions. Unknown users stay as text only: a mention of somebody who is gone does not stop a
// message. A mention of the channel is refused where the network does not allow it.
func (s *Service) mentions(ctx context.Context, list []*plazav1.MessageMention, settings store.Settings) ([]view.MessageMention, error) {
	var all []string
	for _, m := range list {
		all = append(all, m.GetUserIds()...)
	}
	found, err := s.Directory.Resolve(ctx, all...)
	if err != nil {
		return nil, err
	}
	var out []view.MessageMention
	for _, m := range list {
		if m.GetType() == view.MentionChannel {
			if !settings.IsAllowMentionedChannelEnabled {
				return nil, fail.NotAllowed()
			}
			out = append(out, view.MessageMention{Type: view.MentionChannel})
			continue
		}
		mention := view.MessageMention{Type: view.MentionUser}
		for _, id := range m.GetUserIds() {
			if found[id] != "" {
				mention.UserIDs = append(mention.UserIDs, found[id])
				mention.UserPublicIDs = append(mention.UserPublicIDs, id)
			}
		}
		if len(mention.UserIDs) > 0 {
			out = append(out, mention)
		}
	}
	return out, nil
}
