package bare

import (
	"encoding/json"
	"time"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The structs below are the responses for encoding/json, with every field of the API.

// moment is a time that is encoded in UTC with milliseconds.
type moment time.Time

// MarshalJSON returns the time in the format of the API.
func (m moment) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, len(`"2006-01-02T15:04:05.000Z"`))
	return time.Time(m).UTC().AppendFormat(b, `"2006-01-02T15:04:05.000Z"`), nil
}

// none is a list that is always empty.
type none [0]struct{}

type post struct {
	PostID               string            `json:"postId"`
	Data                 json.RawMessage   `json:"data"`
	PrivateID            string            `json:"_id"`
	Path                 string            `json:"path"`
	ParentPostID         string            `json:"parentPostId"`
	PostedUserID         string            `json:"postedUserId"`
	PostedUserPublicID   string            `json:"postedUserPublicId"`
	PostedUserInternalID string            `json:"postedUserInternalId"`
	PublisherID          string            `json:"publisherId"`
	PublisherPublicID    string            `json:"publisherPublicId"`
	SharedUserID         string            `json:"sharedUserId"`
	SharedCount          int32             `json:"sharedCount"`
	TargetID             string            `json:"targetId"`
	TargetPublicID       string            `json:"targetPublicId"`
	TargetInternalID     string            `json:"targetInternalId"`
	TargetType           string            `json:"targetType"`
	DataType             string            `json:"dataType"`
	Metadata             json.RawMessage   `json:"metadata"`
	FlagCount            int64             `json:"flagCount"`
	HashFlag             *plazav1.HashFlag `json:"hashFlag"`
	EditedAt             moment            `json:"editedAt"`
	CreatedAt            moment            `json:"createdAt"`
	UpdatedAt            moment            `json:"updatedAt"`
	Reactions            map[string]int64  `json:"reactions"`
	ReactionsCount       int64             `json:"reactionsCount"`
	MyReactions          []string          `json:"myReactions"`
	CommentsCount        int64             `json:"commentsCount"`
	Comments             []string          `json:"comments"`
	Children             []string          `json:"children"`
	ChildrenNumber       int64             `json:"childrenNumber"`
	IsDeleted            bool              `json:"isDeleted"`
	HasFlaggedComment    bool              `json:"hasFlaggedComment"`
	HasFlaggedChildren   bool              `json:"hasFlaggedChildren"`
	FeedID               string            `json:"feedId"`
	Tags                 []string          `json:"tags"`
	Hashtags             []string          `json:"hashtags"`
	Mentionees           json.RawMessage   `json:"mentionees"`
	Impression           int32             `json:"impression"`
	Reach                int32             `json:"reach"`
	StructureType        string            `json:"structureType"`

	feedType       string
	isParent       bool
	flaggers       []string
	deletedAt      *time.Time
	commentAuthors []string
}

type comment struct {
	CommentID      string            `json:"commentId"`
	PrivateID      string            `json:"_id"`
	Path           string            `json:"path"`
	UserID         string            `json:"userId"`
	UserPublicID   string            `json:"userPublicId"`
	UserInternalID string            `json:"userInternalId"`
	ParentID       string            `json:"parentId"`
	RootID         string            `json:"rootId"`
	ReferenceID    string            `json:"referenceId"`
	ReferenceType  string            `json:"referenceType"`
	DataType       string            `json:"dataType"`
	DataTypes      []string          `json:"dataTypes"`
	Data           json.RawMessage   `json:"data"`
	Metadata       json.RawMessage   `json:"metadata"`
	ChildrenNumber int64             `json:"childrenNumber"`
	FlagCount      int64             `json:"flagCount"`
	HashFlag       *plazav1.HashFlag `json:"hashFlag"`
	Reactions      map[string]int64  `json:"reactions"`
	ReactionsCount int64             `json:"reactionsCount"`
	MyReactions    []string          `json:"myReactions"`
	IsDeleted      bool              `json:"isDeleted"`
	ApprovalStatus string            `json:"approvalStatus"`
	EditedAt       moment            `json:"editedAt"`
	CreatedAt      moment            `json:"createdAt"`
	UpdatedAt      moment            `json:"updatedAt"`
	Children       []string          `json:"children"`
	SegmentNumber  int64             `json:"segmentNumber"`
	Mentionees     json.RawMessage   `json:"mentionees"`
	Attachments    json.RawMessage   `json:"attachments"`
	TargetID       string            `json:"targetId"`
	TargetType     string            `json:"targetType"`

	targetInternalID string
	flaggers         []string
	deletedAt        *time.Time
	replyAuthors     []string
}

type user struct {
	UserID          string            `json:"userId"`
	CreatedAt       moment            `json:"createdAt"`
	UpdatedAt       moment            `json:"updatedAt"`
	PrivateID       string            `json:"_id"`
	Path            string            `json:"path"`
	UserInternalID  string            `json:"userInternalId"`
	UserPublicID    string            `json:"userPublicId"`
	Roles           []string          `json:"roles"`
	Permissions     []string          `json:"permissions"`
	DisplayName     string            `json:"displayName"`
	ProfileHandle   string            `json:"profileHandle"`
	Description     string            `json:"description"`
	AvatarFileID    string            `json:"avatarFileId"`
	AvatarCustomURL string            `json:"avatarCustomUrl"`
	FlagCount       int64             `json:"flagCount"`
	HashFlag        *plazav1.HashFlag `json:"hashFlag"`
	Metadata        json.RawMessage   `json:"metadata"`
	IsGlobalBan     bool              `json:"isGlobalBan"`
	IsGlobalBanned  bool              `json:"isGlobalBanned"`
	IsBrand         bool              `json:"isBrand"`
	IsDeleted       bool              `json:"isDeleted"`

	flaggers  []string
	deletedAt *time.Time
}

type community struct {
	CommunityID                   string          `json:"communityId"`
	ChannelID                     string          `json:"channelId"`
	DisplayName                   string          `json:"displayName"`
	PrivateID                     string          `json:"_id"`
	Path                          string          `json:"path"`
	UserID                        string          `json:"userId"`
	UserPublicID                  string          `json:"userPublicId"`
	UserInternalID                string          `json:"userInternalId"`
	AvatarFileID                  string          `json:"avatarFileId"`
	Description                   string          `json:"description"`
	IsOfficial                    bool            `json:"isOfficial"`
	IsPublic                      bool            `json:"isPublic"`
	OnlyAdminCanPost              bool            `json:"onlyAdminCanPost"`
	Tags                          []string        `json:"tags"`
	Metadata                      json.RawMessage `json:"metadata"`
	PostsCount                    int64           `json:"postsCount"`
	MembersCount                  int64           `json:"membersCount"`
	IsJoined                      bool            `json:"isJoined"`
	CategoryIDs                   []string        `json:"categoryIds"`
	IsDeleted                     bool            `json:"isDeleted"`
	CreatedAt                     moment          `json:"createdAt"`
	UpdatedAt                     moment          `json:"updatedAt"`
	HasFlaggedComment             bool            `json:"hasFlaggedComment"`
	HasFlaggedPost                bool            `json:"hasFlaggedPost"`
	NeedApprovalOnPostCreation    bool            `json:"needApprovalOnPostCreation"`
	NeedApprovalOnCommentCreation bool            `json:"needApprovalOnCommentCreation"`
	ModeratorMemberCount          int64           `json:"moderatorMemberCount"`
	AllowCommentInStory           bool            `json:"allowCommentInStory"`
	IsDiscoverable                bool            `json:"isDiscoverable"`
	RequiresJoinApproval          bool            `json:"requiresJoinApproval"`
	NotificationMode              string          `json:"notificationMode"`
	Type                          string          `json:"type"`

	deletedAt *time.Time
}

type member struct {
	UserID              string   `json:"userId"`
	UserPublicID        string   `json:"userPublicId"`
	UserInternalID      string   `json:"userInternalId"`
	ChannelID           string   `json:"channelId"`
	CommunityID         string   `json:"communityId"`
	CommunityMembership string   `json:"communityMembership"`
	NotMemberReason     string   `json:"notMemberReason"`
	IsBanned            bool     `json:"isBanned"`
	LastActivity        moment   `json:"lastActivity"`
	Roles               []string `json:"roles"`
	Permissions         []string `json:"permissions"`
	LastJoin            moment   `json:"lastJoin"`
	CreatedAt           moment   `json:"createdAt"`
	UpdatedAt           moment   `json:"updatedAt"`
}

type category struct {
	CategoryID   string          `json:"categoryId"`
	Name         string          `json:"name"`
	Metadata     json.RawMessage `json:"metadata"`
	AvatarFileID string          `json:"avatarFileId"`
	IsDeleted    bool            `json:"isDeleted"`
	CreatedAt    moment          `json:"createdAt"`
	UpdatedAt    moment          `json:"updatedAt"`
}

type feed struct {
	TargetID   string `json:"targetId"`
	TargetType string `json:"targetType"`
	PostCount  int64  `json:"postCount"`
	FeedType   string `json:"feedType"`
	FeedID     string `json:"feedId"`
	CreatedAt  moment `json:"createdAt"`
	UpdatedAt  moment `json:"updatedAt"`
}

type paging struct {
	Next     string `json:"next"`
	Previous string `json:"previous"`
	Prev     string `json:"prev"`
}

// related are the resources to which posts refer.
type related struct {
	Posts          []post      `json:"posts"`
	PostChildren   none        `json:"postChildren"`
	Comments       []comment   `json:"comments"`
	Users          []user      `json:"users"`
	Files          none        `json:"files"`
	Communities    []community `json:"communities"`
	CommunityUsers []member    `json:"communityUsers"`
	Categories     []category  `json:"categories"`
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
