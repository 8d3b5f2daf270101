package view

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestFilesWantedInResponses(t *testing.T) {
	users := []*plazav1.User{{AvatarFileId: "a"}, {AvatarFileId: "b"}, {AvatarFileId: "a"}, {}}
	for name, tc := range map[string]struct {
		response proto.Message
		lists    int
		want     []string
	}{
		"a list":                    {&plazav1.ListUsersResponse{Users: users}, 1, []string{"a", "b"}},
		"a list in data":            {&plazav1.ListUserFeedResponse{Data: &plazav1.UserFeedData{Users: users}}, 1, []string{"a", "b"}},
		"without data":              {&plazav1.ListUserFeedResponse{}, 0, nil},
		"filled already":            {&plazav1.ListUsersResponse{Users: users, Files: []*plazav1.File{{FileId: "a"}}}, 0, nil},
		"a response without files":  {&plazav1.StatusSuccessResponse{}, 0, nil},
		"files of objects in lists": {&plazav1.ListScheduledPostsResponse{Data: []*plazav1.ScheduledPost{{}}}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			empty, wanted := filesWanted(tc.response.ProtoReflect())
			require.Len(t, empty, tc.lists)
			require.ElementsMatch(t, tc.want, wanted.list())
		})
	}
}
