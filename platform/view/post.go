package view

import (
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TargetPath returns the path of the content of a community or a wall.
func (b *Builder) TargetPath(targetType, targetID string) string {
	return b.NetworkID + "/social/" + targetType + "/" + targetID
}

// PostPath returns the path of a post.
func (b *Builder) PostPath(p content.Post) string { return b.postPath(p.TargetType, p.TargetID, p.ID) }

func (b *Builder) postPath(targetType, targetID, postID string) string {
	return b.TargetPath(targetType, targetID) + "/post/" + postID
}

// post converts a post. Deleted posts are returned without content.
func (b *Builder) post(p content.Post, counts core.Counts) *plazav1.Post {
	m := &plazav1.Post{
		PostId:               p.ID,
		Data:                 object(withSizes(p.Data)),
		PrivateId:            p.ID,
		Path:                 b.PostPath(p),
		ParentPostId:         p.ParentID,
		ParentId:             p.ParentID,
		PostedUserId:         p.AuthorPublicID,
		PostedUserPublicId:   p.AuthorPublicID,
		PostedUserInternalId: p.AuthorID,
		TargetId:             p.TargetPublicID,
		TargetPublicId:       p.TargetPublicID,
		TargetInternalId:     p.TargetID,
		TargetType:           p.TargetType,
		DataType:             p.DataType,
		Metadata:             object(p.Metadata),
		FlagCount:            count(p.FlagCount),
		HashFlag:             HashFlag(p.Flaggers),
		EditedAt:             ts(p.EditedAt),
		CreatedAt:            ts(p.CreatedAt),
		UpdatedAt:            ts(p.UpdatedAt),
		CommentsCount:        count(counts.Of(p.ID, core.CountComments)),
		Comments:             p.LatestComments.IDs(),
		Children:             p.Children,
		ChildrenNumber:       count(int64(len(p.Children))),
		IsDeleted:            p.DeletedAt != nil,
		HasFlaggedComment:    p.HasFlaggedComment,
		HasFlaggedChildren:   p.HasFlaggedChildren,
		FeedId:               FeedID(p.TargetID, p.FeedType),
		Tags:                 p.Tags,
		Hashtags:             p.Hashtags,
		Mentionees:           mentionees(p.Mentionees),
		StructureType:        p.StructureType,
		Impression:           count(counts.Of(p.ID, content.CountImpressions)),
		Reach:                count(counts.Of(p.ID, content.CountReach)),
	}
	if m.GetIsDeleted() {
		m.Data, m.Metadata, m.Mentionees, m.Tags, m.Hashtags = object(nil), object(nil), nil, nil, nil
		return m
	}
	annotate(m, p)
	return m
}

// Mention is a mention in a post, a comment or a story, as rows store it.
type Mention struct {
	Type            string   `json:"type"`
	UserIDs         []string `json:"userIds"`
	UserPublicIDs   []string `json:"userPublicIds"`
	UserInternalIDs []string `json:"userInternalIds"`
}

// MentionsJSON encodes mentions for a row.
func MentionsJSON(mentions []Mention) []byte { return listJSON(mentions) }

// Mentions decodes the mentions of a row.
func Mentions(raw []byte) []Mention { return listOf[Mention](raw) }

func mentionees(raw []byte) []*plazav1.Mentionee {
	return mapList(Mentions(raw), func(m Mention) *plazav1.Mentionee {
		return &plazav1.Mentionee{Type: m.Type, UserIds: m.UserIDs, UserPublicIds: m.UserPublicIDs, UserInternalIds: m.UserInternalIDs}
	})
}

func mentionedIDs(raw []byte) []string {
	var ids []string
	for _, m := range Mentions(raw) {
		ids = append(ids, m.UserInternalIDs...)
	}
	return ids
}
