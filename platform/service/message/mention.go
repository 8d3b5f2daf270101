package message

import (
	"context"
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// readSettings adds the read of the network settings to a request that mentions a channel.
func readSettings(r *service.Request, list []*plazav1.MessageMention, into *network.Settings) {
	if slices.ContainsFunc(list, func(m *plazav1.MessageMention) bool { return m.GetType() == view.MentionChannel }) {
		r.Settings(r.Deps.Region, into)
	}
}

// mentions resolves the mentions of a request. Mentions of unknown users are dropped, so that a deleted user does not
// make a message fail, and so are those of users whom the caller may not contact. A mention of the channel fails if the network settings do
// not allow it.
func (s *Service) mentions(ctx context.Context, list []*plazav1.MessageMention, settings network.Settings) ([]view.MessageMention, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var all []string
	for _, m := range list {
		all = append(all, m.GetUserIds()...)
	}
	found, err := s.Directory.Resolve(ctx, all...)
	if err != nil {
		return nil, err
	}
	blocks, err := contact.Load(ctx, s.Deps, slices.Collect(maps.Values(found)))
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
			if found[id] != "" && blocks.MayContact(found[id]) {
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
