package view

import (
	"reflect"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Aggregate holds the collections of a response about posts, stories or comments, each object once. Their order is that in which the
// files of the response are.
type Aggregate struct {
	Posts           []*plazav1.Post
	PostChildren    []*plazav1.Post
	Stories         []*plazav1.Story
	Comments        []*plazav1.Comment
	CommentChildren []*plazav1.Comment
	Polls           []*plazav1.Poll

	VideoStreamings        []*plazav1.VideoStreaming
	VideoStreamingChildren []*plazav1.VideoStreaming
	Rooms                  []*plazav1.Room
	RoomChildrens          []*plazav1.Room

	Users          []*plazav1.User
	Communities    []*plazav1.Community
	Categories     []*plazav1.Category
	CommunityUsers []*plazav1.CommunityUser
	Feeds          []*plazav1.Feed
	Roles          []*plazav1.Role
	Products       []*plazav1.Product
	Files          []*plazav1.File
}

// Fill sets the lists of a response that are empty to the lists of the same name in an aggregate or another response, which may be
// nil, and returns the response.
func Fill[Response any](from any, response *Response) *Response {
	source, target := reflect.Indirect(reflect.ValueOf(from)), reflect.ValueOf(response).Elem()
	if !source.IsValid() {
		return response
	}
	for field, list := range target.Fields() {
		if field.IsExported() && list.Kind() == reflect.Slice && list.IsNil() {
			if found := source.FieldByName(field.Name); found.IsValid() {
				list.Set(found)
			}
		}
	}
	return response
}
