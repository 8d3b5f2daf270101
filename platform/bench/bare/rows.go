package bare

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// The row structs have the columns of the platform's statements as fields, in this order. encoding/json encodes them as
// parts of the answers, which are passed as pointers: the methods of the types below have pointer receivers.

// moment is a time that is encoded in UTC with milliseconds.
type moment time.Time

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (m *moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	*m = moment(v.Time)
	return nil
}

// MarshalJSON returns the time in the format of the API.
func (m *moment) MarshalJSON() ([]byte, error) {
	return time.Time(*m).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}

// deleted is encoded as whether a row has the time of its deletion.
type deleted bool

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (d *deleted) ScanTimestamptz(v pgtype.Timestamptz) error {
	*d = deleted(v.Valid)
	return nil
}

// document is a JSON document.
type document []byte

// ScanBytes implements pgtype.BytesScanner.
func (d *document) ScanBytes(v []byte) error {
	*d = slices.Clone(v)
	return nil
}

// MarshalJSON returns the document.
func (d *document) MarshalJSON() ([]byte, error) { return *d, nil }

// UnmarshalJSON retains the document.
func (d *document) UnmarshalJSON(v []byte) error { return d.ScanBytes(v) }

// flaggers are the ids of users who flagged something.
type flaggers []string

// MarshalJSON returns the Bloom filter of the ids.
func (f flaggers) MarshalJSON() ([]byte, error) { return json.Marshal(view.HashFlag(f)) }

type flags struct {
	Flaggers  flaggers `json:"hashFlag"`
	FlagCount int64    `json:"flagCount"`
}

type userRef struct {
	UserInternalID string `json:"userInternalId"`
	UserID         string `json:"userId"`
}

type times struct {
	CreatedAt moment `json:"createdAt"`
	UpdatedAt moment `json:"updatedAt"`
}

// latest are comments, which the answer contains as ids.
type latest struct{ store.LatestComments }

// MarshalJSON implements json.Marshaler.
func (l latest) MarshalJSON() ([]byte, error) { return json.Marshal(list(l.IDs())) }

type postRow struct {
	PostID               string   `json:"postId"`
	TargetType           string   `json:"targetType"`
	TargetInternalID     string   `json:"targetInternalId"`
	TargetID             string   `json:"targetId"`
	PostedUserInternalID string   `json:"postedUserInternalId"`
	PostedUserID         string   `json:"postedUserId"`
	ParentPostID         string   `json:"parentPostId"`
	IsParent             bool     `json:"-"`
	Children             []string `json:"children"`
	FeedType             string   `json:"-"`
	DataType             string   `json:"dataType"`
	StructureType        string   `json:"structureType"`
	Data                 document `json:"data"`
	Metadata             document `json:"metadata"`
	Tags                 []string `json:"tags"`
	Hashtags             []string `json:"hashtags"`
	Mentionees           document `json:"mentionees"`
	Annotations          document `json:"-"`
	flags
	HasFlaggedChildren bool `json:"hasFlaggedChildren"`
	HasFlaggedComment  bool `json:"hasFlaggedComment"`
	times
	EditedAt  moment  `json:"editedAt"`
	IsDeleted deleted `json:"isDeleted"`
	Comments  latest  `json:"comments"`
}

// listedPost is a row of a statement that reads a page of posts. They are in no particular order.
type listedPost struct {
	postRow

	IsMore bool
}

// posts returns the posts of a page, newest first. Of the row with IsMore, which says that the page is not complete, nothing else has a
// meaning; the feed of the benchmark has no post that the list leaves out, so that its pages are complete.
func posts(page []listedPost) []postRow {
	all := make([]postRow, 0, len(page))
	for _, p := range page {
		if !p.IsMore {
			all = append(all, p.postRow)
		}
	}
	slices.SortFunc(all, func(a, b postRow) int {
		return cmp.Or(time.Time(b.CreatedAt).Compare(time.Time(a.CreatedAt)), cmp.Compare(b.PostID, a.PostID))
	})
	return all
}

type commentRow struct {
	CommentID        string `json:"commentId"`
	ReferenceType    string `json:"referenceType"`
	ReferenceID      string `json:"referenceId"`
	TargetType       string `json:"targetType"`
	TargetInternalID string `json:"-"`
	TargetID         string `json:"targetId"`
	ParentID         string `json:"parentId"`
	RootID           string `json:"rootId"`
	userRef
	DataTypes      []string `json:"dataTypes"`
	Data           document `json:"data"`
	Metadata       document `json:"metadata"`
	Mentionees     document `json:"mentionees"`
	Annotations    document `json:"-"`
	Attachments    document `json:"attachments"`
	SegmentNumber  int64    `json:"segmentNumber"`
	ApprovalStatus string   `json:"approvalStatus"`
	flags
	times
	EditedAt  moment  `json:"editedAt"`
	IsDeleted deleted `json:"isDeleted"`
	Children  latest  `json:"children"`
}

type userRow struct {
	userRef
	DisplayName     string   `json:"displayName"`
	ProfileHandle   string   `json:"profileHandle"`
	HandleClaim     string   `json:"-"`
	Description     string   `json:"description"`
	AvatarFileID    string   `json:"avatarFileId"`
	AvatarCustomURL string   `json:"avatarCustomUrl"`
	Roles           []string `json:"roles"`
	Metadata        document `json:"metadata"`
	flags
	IsGlobalBan bool `json:"isGlobalBan"`
	IsBrand     bool `json:"isBrand"`

	IsPresenceHidden  bool       `json:"-"`
	PresenceChangedAt *time.Time `json:"-"`

	times
	IsDeleted deleted `json:"isDeleted"`
}

type callerRow struct {
	userRow
	SessionLive          bool
	SessionAuthenticated bool
}

type communityRow struct {
	CommunityID string `json:"communityId"`
	DisplayName string `json:"displayName"`
	userRef
	Description                   string   `json:"description"`
	AvatarFileID                  string   `json:"avatarFileId"`
	IsOfficial                    bool     `json:"isOfficial"`
	IsPublic                      bool     `json:"isPublic"`
	IsDiscoverable                bool     `json:"isDiscoverable"`
	OnlyAdminCanPost              bool     `json:"onlyAdminCanPost"`
	NeedApprovalOnPostCreation    bool     `json:"needApprovalOnPostCreation"`
	NeedApprovalOnCommentCreation bool     `json:"needApprovalOnCommentCreation"`
	RequiresJoinApproval          bool     `json:"requiresJoinApproval"`
	AllowCommentInStory           bool     `json:"allowCommentInStory"`
	NotificationMode              string   `json:"notificationMode"`
	Type                          string   `json:"type"`
	Tags                          []string `json:"tags"`
	Metadata                      document `json:"metadata"`
	CategoryIDs                   []string `json:"categoryIds"`
	HasFlaggedPost                bool     `json:"hasFlaggedPost"`
	HasFlaggedComment             bool     `json:"hasFlaggedComment"`
	times
	IsDeleted deleted `json:"isDeleted"`
}

type memberRow struct {
	CommunityID string `json:"communityId"`
	userRef
	State    string   `json:"-"`
	Roles    []string `json:"roles"`
	Version  int64    `json:"-"`
	LastJoin moment   `json:"lastJoin"`
	times
}

func (m *memberRow) isMember() bool { return m != nil && m.State == store.StateMember }

func (m *memberRow) isBanned() bool { return m != nil && m.State == store.StateBanned }

type categoryRow struct {
	CategoryID   string   `json:"categoryId"`
	Name         string   `json:"name"`
	NameKey      string   `json:"-"`
	Metadata     document `json:"metadata"`
	AvatarFileID string   `json:"avatarFileId"`
	times
	IsDeleted deleted `json:"isDeleted"`
}

type countRow struct {
	Ref  string
	Kind store.CounterKind
	N    int64
}
