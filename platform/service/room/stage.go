package room

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// On the stage of a room are the participants who send to it, as the media server reports.

// joinStage adds a participant, by internal id, to the stage of a room that is live.
func (s *Service) joinStage(ctx context.Context, room *media.Room, userID string) (*plazav1.RoomResponse, error) {
	return s.rooms.Change(ctx, "", s.RoomChange(room.ID), func(tx *store.Tx) []core.OutboxRow {
		return s.setStage(ctx, tx, room, service.SortedSet(append([]string{userID}, room.OnStageIDs...)))
	})
}

// stageOf returns those on the stage of a room who are among participants.
func stageOf(room *media.Room, participants []media.RoomParticipant) []string {
	return slices.DeleteFunc(slices.Clone(room.OnStageIDs), func(id string) bool {
		return !slices.ContainsFunc(participants, func(p media.RoomParticipant) bool { return p.UserID == id })
	})
}

// setStage changes who is on the stage of a room, and returns the outbox rows of the realtime events about it.
func (s *Service) setStage(ctx context.Context, tx *store.Tx, room *media.Room, changed []string) []core.OutboxRow {
	old := room.OnStageIDs
	if slices.Equal(old, changed) {
		return nil
	}
	tx.UpdateStage(room.ID, old, changed, fail.Conflict())
	return append(s.emitStage(ctx, tx, room, eventStageLeft, old, changed), s.emitStage(ctx, tx, room, eventStageJoined, changed, old)...)
}

// emitStage writes the realtime event called name about each user who is in one list, but not in the other.
func (s *Service) emitStage(ctx context.Context, tx *store.Tx, room *media.Room, name string, in, notIn []string) []core.OutboxRow {
	var rows []core.OutboxRow
	for _, id := range in {
		if !slices.Contains(notIn, id) {
			rows = append(rows, s.EmitChange(ctx, tx, name, s.ParticipantChange(room.ID, id))...)
		}
	}
	return rows
}
