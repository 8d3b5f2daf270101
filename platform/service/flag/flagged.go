package flag

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
)

// readFlagged reads the target of an item.
func (s *Service) readFlagged(ctx context.Context, i content.FlagItem) (flags.Target, error) {
	switch i.TargetType {
	case content.FlagPost:
		return readTarget(ctx, s, (*store.ReadBatch).PostsByID, i.TargetID, flags.OfPost)
	case content.FlagComment:
		return readTarget(ctx, s, (*store.ReadBatch).CommentsByID, i.TargetID, flags.OfComment)
	case content.FlagStory:
		return readTarget(ctx, s, (*store.ReadBatch).StoriesByID, i.TargetID, flags.OfStory)
	case content.FlagMessage:
		return readTarget(ctx, s, (*store.ReadBatch).MessagesByID, i.TargetID, flags.OfMessage)
	}
	return readTarget(ctx, s, (*store.ReadBatch).Users, i.TargetID, flags.OfUser)
}

func readTarget[T any](
	ctx context.Context, s *Service, query func(*store.ReadBatch, []string, *[]T), id string, target func(T) flags.Target,
) (flags.Target, error) {
	rows, err := service.Read(ctx, s.Deps, query, []string{id})
	if err != nil || len(rows) == 0 {
		return flags.Missing(id), err
	}
	return target(rows[0]), nil
}
