package store_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/media"
)

// TestParentsOfRooms requires of the parent of a room the same creator, that it is not a child and not deleted, and that it has few
// children.
func TestParentsOfRooms(t *testing.T) {
	s := openNew(t)
	creator := region.NewID(region.EU)
	insert := func(creatorID, parentID string) (media.Room, error) {
		room := media.Room{
			ID: region.NewID(region.EU), CreatorID: creatorID, Type: "directStreaming", Status: "idle", Metadata: []byte(`{}`), ParentID: parentID,
			CreatedAt: now,
		}
		w := s.NewTx(region.EU)
		w.InsertRoom(room, refused)
		return room, w.Commit(t.Context())
	}
	put := func(creatorID, parentID string) media.Room {
		t.Helper()
		room, err := insert(creatorID, parentID)
		require.NoError(t, err)
		return room
	}
	parent, deleted, ofOther := put(creator, ""), put(creator, ""), put(region.NewID(region.EU), "")
	child := put(creator, parent.ID)
	w := s.NewTx(region.EU)
	w.DeleteRoom(deleted, "", now, refused)
	commit(t, w)
	for name, id := range map[string]string{
		"a deleted one": deleted.ID, "of another user": ofOther.ID, "a child": child.ID,
		"none": region.NewID(region.EU),
	} {
		_, err := insert(creator, id)
		require.ErrorIs(t, err, refused, name)
	}
	children := []string{child.ID}
	for range media.MaxChildStreams - 1 {
		children = append(children, put(creator, parent.ID).ID)
	}
	_, err := insert(creator, parent.ID)
	require.ErrorIs(t, err, refused, "one child too many")
	requireChildren := func() {
		t.Helper()
		var rooms []media.Room
		var found *media.Room
		r := s.NewReadBatch()
		r.ChildRooms([]string{parent.ID}, &rooms)
		r.Room(parent.ID, &found)
		run(t, r)
		require.Equal(t, children, found.ChildIDs)
		require.Len(t, rooms, media.MaxChildStreams, "also deleted ones")
	}
	requireChildren()
	w = s.NewTx(region.EU)
	w.DeleteRoom(child, "", now, refused)
	commit(t, w)
	children = slices.Clone(children[1:])
	requireChildren()
	_, err = insert(creator, parent.ID)
	require.NoError(t, err, "there is room for another one")
}
