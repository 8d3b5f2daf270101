package view

import (
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// comment converts a comment. Deleted comments are returned without content.
func (b *Builder) comment(c content.Comment, counts core.Counts) *plazav1.Comment {
	m := &plazav1.Comment{
		CommentId:      c.ID,
		PrivateId:      c.ID,
		Path:           b.CommentPath(c),
		UserId:         c.AuthorPublicID,
		UserPublicId:   c.AuthorPublicID,
		UserInternalId: c.AuthorID,
		ParentId:       c.ParentID,
		RootId:         c.RootID,
		ReferenceId:    c.ReferenceID,
		ReferenceType:  c.ReferenceType,
		DataType:       "text",
		DataTypes:      c.DataTypes,
		Data:           object(c.Data),
		Metadata:       object(c.Metadata),
		ChildrenNumber: count(counts.Of(c.ID, core.CountReplies)),
		FlagCount:      count(c.FlagCount),
		HashFlag:       HashFlag(c.Flaggers),
		IsDeleted:      c.DeletedAt != nil,
		ApprovalStatus: c.ApprovalStatus,
		EditedAt:       ts(c.EditedAt),
		CreatedAt:      ts(c.CreatedAt),
		UpdatedAt:      ts(c.UpdatedAt),
		Children:       c.LatestReplies.IDs(),
		SegmentNumber:  count(c.Segment),
		Mentionees:     mentionees(c.Mentionees),
		Attachments:    Attachments(c.Attachments),
		TargetId:       c.TargetPublicID,
		TargetType:     c.TargetType,
	}
	if m.GetIsDeleted() {
		m.Data, m.Metadata, m.Mentionees, m.Attachments = object(nil), object(nil), nil, nil
		return m
	}
	m.Links = AnnotationsOf(c.Annotations).links()
	return m
}

// CommentPath returns the path of a comment.
func (b *Builder) CommentPath(c content.Comment) string {
	return b.referencePath(c) + "/comment/" + c.ID
}

// referencePath returns the path of the post or story that a comment belongs to.
func (b *Builder) referencePath(c content.Comment) string {
	if c.ReferenceType == content.ReferenceStory {
		return b.storyPath(c.TargetType, c.TargetID, c.ReferenceID)
	}
	return b.postPath(c.TargetType, c.TargetID, c.ReferenceID)
}

// attachment is the JSON of an attachment in a row.
type attachment struct {
	Type   string `json:"type"`
	FileID string `json:"fileId"`
}

// AttachmentsJSON encodes attachments for a row.
func AttachmentsJSON(list []*plazav1.Attachment) []byte {
	return listJSON(mapList(list, func(a *plazav1.Attachment) attachment { return attachment{Type: a.GetType(), FileID: a.GetFileId()} }))
}

// Attachments decodes the attachments of a row.
func Attachments(raw []byte) []*plazav1.Attachment {
	return mapList(listOf[attachment](raw), func(a attachment) *plazav1.Attachment {
		return &plazav1.Attachment{Type: a.Type, FileId: a.FileID}
	})
}
