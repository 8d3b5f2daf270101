package view

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// fillLists adds one element to each list of messages of a message.
func fillLists(t *testing.T, m protoreflect.Message) {
	t.Helper()
	for i := range m.Descriptor().Fields().Len() {
		if field := m.Descriptor().Fields().Get(i); field.IsList() && field.Message() != nil {
			list := m.Mutable(field).List()
			list.Append(list.NewElement())
		}
	}
}

// requireFilled requires all lists of messages of a message, and of the messages in its fields, to have elements.
func requireFilled(t *testing.T, m protoreflect.Message) {
	t.Helper()
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		switch {
		case field.Message() == nil, field.IsMap():
		case field.IsList():
			require.NotZero(t, m.Get(field).List().Len(), "%s is empty", field.FullName())
		default:
			require.True(t, m.Has(field), "%s is not set", field.FullName())
			requireFilled(t, m.Get(field).Message())
		}
	}
}

// fullAggregate returns an aggregate with one element in each collection.
func fullAggregate() *Aggregate {
	a := &Aggregate{}
	for _, field := range reflect.ValueOf(a).Elem().Fields() {
		field.Set(reflect.Append(field, reflect.New(field.Type().Elem().Elem())))
	}
	return a
}

func TestResponsesHaveAllCollections(t *testing.T) {
	t.Parallel()
	a, paging := fullAggregate(), &plazav1.Paging{Next: "next", Previous: "previous"}
	b := &Builder{NetworkID: "n"}
	for name, response := range map[string]proto.Message{
		"posts":           Fill(a, &plazav1.PostResponse{}),
		"list of posts":   Fill(a, &plazav1.ListPostsResponse{Paging: paging}),
		"wall":            Fill(a, &plazav1.UserFeedData{Paging: paging}),
		"content":         Fill(a, &plazav1.ContentFeedData{Paging: paging}),
		"community feed":  Fill(a, &plazav1.CommunityFeedData{Paging: paging}),
		"following feed":  Fill(a, &plazav1.ListFollowingFeedResponse{Paging: &plazav1.FollowingPaging{}}),
		"global feed":     Fill(a, &plazav1.ListGlobalFeedResponse{Paging: paging, Data: Fill(a, &plazav1.GlobalFeedData{Paging: paging})}),
		"comments":        Fill(a, &plazav1.CommentResponse{}),
		"comment list":    Fill(a, &plazav1.ListCommentsResponse{Paging: paging}),
		"stories":         Fill(a, &plazav1.StoryResponse{}),
		"list of stories": Fill(a, &plazav1.ListStoriesResponse{StoryTargets: []*plazav1.StoryTarget{{}}, Paging: paging}),
		"pins":            b.Pins(a, []content.PinTarget{{}}, []content.Pin{{}}),
		"live rooms":      Fill(a, &plazav1.ListLiveRoomsResponse{Rooms: []*plazav1.Room{{}}, Paging: paging}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireFilled(t, response.ProtoReflect())
		})
	}
}

func TestFillKeepsWhatIsSet(t *testing.T) {
	t.Parallel()
	rooms := []*plazav1.Room{{RoomId: "a"}, {RoomId: "b"}}
	m := Fill(fullAggregate(), &plazav1.ListLiveRoomsResponse{Rooms: rooms, Paging: &plazav1.Paging{Next: "next"}})
	require.Equal(t, rooms, m.GetRooms())
	require.Equal(t, "next", m.GetPaging().GetNext())
	require.Empty(t, Fill((*Aggregate)(nil), &plazav1.PostResponse{}).GetPosts(), "nothing was loaded")
}

func TestCategoryResponse(t *testing.T) {
	t.Parallel()
	b := &Builder{}
	rows := []communities.Category{{ID: "a", Name: "A"}, {ID: "b", DeletedAt: &deletedAt}}
	m := b.CategoryResponse(rows, nil)
	require.Len(t, m.GetCategories(), 2)
	require.Len(t, m.GetData().GetCategories(), 2)
	require.Equal(t, []bool{false, true}, mapList(m.GetCategories(), (*plazav1.Category).GetIsDeleted))
	require.NotNil(t, m.GetPaging(), "clients read it without asking whether it is set")
	require.Equal(t, "next", b.CategoryResponse(rows, &plazav1.Paging{Next: "next"}).GetPaging().GetNext())
	require.Len(t, b.Categories(append(rows, rows...)), 2, "each once")
}

func TestPinsNameTheirTarget(t *testing.T) {
	t.Parallel()
	b := &Builder{NetworkID: "n"}
	m := b.Pins(&Aggregate{}, []content.PinTarget{{TargetID: "n"}},
		[]content.Pin{{PostID: "p", Placement: "announcement", PinnedBy: "anna", PinnedAt: deletedAt}})
	require.Equal(t, "network", m.GetPinTargets()[0].GetTargetType())
	require.True(t, proto.Equal(&plazav1.Pin{
		ReferenceId: "p", ReferenceType: "post", Placement: "announcement", PinnedBy: "anna", PinnedAt: ts(deletedAt),
	}, m.GetPins()[0]))
}
