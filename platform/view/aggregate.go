package view

import plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"

// Aggregate holds the collections of a response about posts, stories or comments, each object once.
type Aggregate struct {
	Posts           []*plazav1.Post
	Stories         []*plazav1.Story
	PostChildren    []*plazav1.Post
	Comments        []*plazav1.Comment
	CommentChildren []*plazav1.Comment
	Users           []*plazav1.User
	Files           []*plazav1.File
	Communities     []*plazav1.Community
	CommunityUsers  []*plazav1.CommunityUser
	Categories      []*plazav1.Category
	Feeds           []*plazav1.Feed
	Roles           []*plazav1.Role
	Polls           []*plazav1.Poll
	Products        []*plazav1.Product

	VideoStreamings        []*plazav1.VideoStreaming
	VideoStreamingChildren []*plazav1.VideoStreaming
	Rooms                  []*plazav1.Room
	RoomChildrens          []*plazav1.Room
}

// PostAggregate returns the response about posts.
func (a *Aggregate) PostAggregate() *plazav1.PostResponse {
	return &plazav1.PostResponse{
		Posts: a.Posts, PostChildren: a.PostChildren, Comments: a.Comments, Users: a.Users, Files: a.Files,
		Communities: a.Communities, CommunityUsers: a.CommunityUsers, Categories: a.Categories, Feeds: a.Feeds, Polls: a.Polls,
		VideoStreamings: a.VideoStreamings, VideoStreamingChildren: a.VideoStreamingChildren, Rooms: a.Rooms, RoomChildrens: a.RoomChildrens,
		Products: a.Products,
	}
}

// PostList returns the response with a page of posts.
func (a *Aggregate) PostList(paging *plazav1.Paging) *plazav1.ListPostsResponse {
	return &plazav1.ListPostsResponse{
		Posts: a.Posts, PostChildren: a.PostChildren, Comments: a.Comments, Users: a.Users, Files: a.Files,
		Communities: a.Communities, CommunityUsers: a.CommunityUsers, Categories: a.Categories, Feeds: a.Feeds, Polls: a.Polls,
		VideoStreamings: a.VideoStreamings, VideoStreamingChildren: a.VideoStreamingChildren, Rooms: a.Rooms, RoomChildrens: a.RoomChildrens,
		Products: a.Products, Paging: paging,
	}
}

// UserFeed returns the response with a page of a user's wall.
func (a *Aggregate) UserFeed(paging *plazav1.Paging) *plazav1.ListUserFeedResponse {
	return &plazav1.ListUserFeedResponse{Status: "success", Paging: paging, Data: &plazav1.UserFeedData{
		Posts: a.Posts, PostChildren: a.PostChildren, Comments: a.Comments, Users: a.Users, Files: a.Files, Paging: paging,
	}}
}

// ContentFeed returns the response with a page of the posts about a piece of content.
func (a *Aggregate) ContentFeed(paging *plazav1.Paging) *plazav1.ListContentFeedResponse {
	return &plazav1.ListContentFeedResponse{Status: "success", Paging: paging, Data: &plazav1.ContentFeedData{
		Posts: a.Posts, PostChildren: a.PostChildren, Comments: a.Comments, Users: a.Users, Files: a.Files, Paging: paging,
	}}
}

// CommunityFeed returns the response with a page of a community's feed.
func (a *Aggregate) CommunityFeed(paging *plazav1.Paging) *plazav1.ListCommunityFeedResponse {
	return &plazav1.ListCommunityFeedResponse{Status: "success", Paging: paging, Data: &plazav1.CommunityFeedData{
		Posts: a.Posts, PostChildren: a.PostChildren, Comments: a.Comments, Users: a.Users, Files: a.Files,
		Communities: a.Communities, CommunityUsers: a.CommunityUsers, Categories: a.Categories, Paging: paging,
	}}
}

// CommentAggregate returns the response about comments.
func (a *Aggregate) CommentAggregate() *plazav1.CommentResponse {
	return &plazav1.CommentResponse{
		Comments: a.Comments, CommentChildren: a.CommentChildren, CommunityUsers: a.CommunityUsers, Users: a.Users,
		Roles: a.Roles, Files: a.Files,
	}
}

// CommentList returns the response with a page of comments.
func (a *Aggregate) CommentList(paging *plazav1.Paging) *plazav1.ListCommentsResponse {
	return &plazav1.ListCommentsResponse{
		Comments: a.Comments, CommentChildren: a.CommentChildren, CommunityUsers: a.CommunityUsers, Users: a.Users,
		Roles: a.Roles, Files: a.Files, Paging: paging,
	}
}

// FollowingFeed returns the response with a page of the following feed.
func (a *Aggregate) FollowingFeed(paging *plazav1.Paging) *plazav1.ListFollowingFeedResponse {
	return &plazav1.ListFollowingFeedResponse{
		Posts: a.Posts, PostChildren: a.PostChildren, Comments: a.Comments, Users: a.Users, Files: a.Files,
		Communities: a.Communities, CommunityUsers: a.CommunityUsers, Categories: a.Categories,
		Paging: &plazav1.FollowingPaging{Next: paging.GetNext(), Previous: paging.GetPrevious()},
	}
}

// GlobalFeed returns the response with a page of the global feed.
func (a *Aggregate) GlobalFeed(paging *plazav1.Paging) *plazav1.ListGlobalFeedResponse {
	return &plazav1.ListGlobalFeedResponse{
		Status: "success",
		Data: &plazav1.GlobalFeedData{
			Posts: a.Posts, PostChildren: a.PostChildren, Comments: a.Comments, Users: a.Users, Files: a.Files,
			Communities: a.Communities, CommunityUsers: a.CommunityUsers, Categories: a.Categories, Paging: paging,
		},
		Posts: a.Posts, PostChildren: a.PostChildren, Comments: a.Comments, Users: a.Users, Files: a.Files,
		Communities: a.Communities, CommunityUsers: a.CommunityUsers, Categories: a.Categories, Feeds: a.Feeds, Paging: paging,
	}
}
