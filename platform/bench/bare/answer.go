package bare

// The structs below are the responses for encoding/json, with every field of the API.

// none is a list that is always empty.
type none [0]struct{}

type reactions struct {
	Reactions      map[string]int64 `json:"reactions"`
	ReactionsCount int64            `json:"reactionsCount"`
	MyReactions    []string         `json:"myReactions"`
}

type post struct {
	postRow
	reactions
	PrivateID          string `json:"_id"`
	Path               string `json:"path"`
	PostedUserPublicID string `json:"postedUserPublicId"`
	PublisherID        string `json:"publisherId"`
	PublisherPublicID  string `json:"publisherPublicId"`
	SharedUserID       string `json:"sharedUserId"`
	SharedCount        int32  `json:"sharedCount"`
	TargetPublicID     string `json:"targetPublicId"`
	CommentsCount      int64  `json:"commentsCount"`
	ChildrenNumber     int    `json:"childrenNumber"`
	FeedID             string `json:"feedId"`
	Impression         int32  `json:"impression"`
	Reach              int32  `json:"reach"`
	PendingEdit        *none  `json:"pendingEdit"`
	ParentID           string `json:"parentId"`
	Links              none   `json:"links"`
	ProductTags        none   `json:"productTags"`
	PinnedProductID    string `json:"pinnedProductId"`
}

type comment struct {
	commentRow
	reactions
	PrivateID      string `json:"_id"`
	Path           string `json:"path"`
	UserPublicID   string `json:"userPublicId"`
	DataType       string `json:"dataType"`
	ChildrenNumber int64  `json:"childrenNumber"`
	PendingEdit    *none  `json:"pendingEdit"`
	Links          none   `json:"links"`
}

type user struct {
	userRow
	PrivateID      string   `json:"_id"`
	Path           string   `json:"path"`
	UserPublicID   string   `json:"userPublicId"`
	Permissions    []string `json:"permissions"`
	IsGlobalBanned bool     `json:"isGlobalBanned"`
}

type community struct {
	communityRow
	PrivateID            string `json:"_id"`
	Path                 string `json:"path"`
	ChannelID            string `json:"channelId"`
	UserPublicID         string `json:"userPublicId"`
	PostsCount           int64  `json:"postsCount"`
	MembersCount         int64  `json:"membersCount"`
	ModeratorMemberCount int64  `json:"moderatorMemberCount"`
	IsJoined             bool   `json:"isJoined"`
}

type member struct {
	memberRow
	UserPublicID        string   `json:"userPublicId"`
	ChannelID           string   `json:"channelId"`
	CommunityMembership string   `json:"communityMembership"`
	NotMemberReason     string   `json:"notMemberReason"`
	IsBanned            bool     `json:"isBanned"`
	LastActivity        moment   `json:"lastActivity"`
	Permissions         []string `json:"permissions"`
	IsMuted             bool     `json:"isMuted"`
	MuteTimeout         *moment  `json:"muteTimeout"`
}

type feed struct {
	times
	TargetID   string `json:"targetId"`
	TargetType string `json:"targetType"`
	PostCount  int64  `json:"postCount"`
	FeedType   string `json:"feedType"`
	FeedID     string `json:"feedId"`
}

type paging struct {
	Next     string `json:"next"`
	Previous string `json:"previous"`
	Prev     string `json:"prev"`
}

// related are posts and the resources to which they refer.
type related struct {
	Posts          []post        `json:"posts"`
	PostChildren   none          `json:"postChildren"`
	Comments       []comment     `json:"comments"`
	Users          []user        `json:"users"`
	Files          none          `json:"files"`
	Communities    []community   `json:"communities"`
	CommunityUsers []member      `json:"communityUsers"`
	Categories     []categoryRow `json:"categories"`
}

// postAnswer is a response with one post.
type postAnswer struct {
	related
	Feeds                  []feed `json:"feeds"`
	VideoStreamings        none   `json:"videoStreamings"`
	VideoStreamingChildren none   `json:"videoStreamingChildren"`
	Rooms                  none   `json:"rooms"`
	RoomChildrens          none   `json:"roomChildrens"`
	Polls                  none   `json:"polls"`
	Products               none   `json:"products"`
}

// feedAnswer is a response with a page of a community's feed.
type feedAnswer struct {
	Status string   `json:"status"`
	Data   feedData `json:"data"`
	Paging paging   `json:"paging"`
}

type feedData struct {
	related
	Paging paging `json:"paging"`
}
