package view

import (
	"encoding/json"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// comment makes the message of a comment. A deleted one keeps its place and loses its content.
func (b *Builder) comment(c store.Comment, counts store.Counts) *plazav1.Comment {
	m := &plazav1.Comment{
		CommentId:      c.ID,
		PrivateId:      c.ID,
		Path:           b.referencePath(c) + "/comment/" + c.ID,
		UserId:         c.AuthorPublicID,
		UserPublicId:   c.AuthorPublicID,
		UserInternalId: c.AuthorID,
		ParentId:       c.ParentID,
		RootId:         c.RootID,
		ReferenceId:    c.ReferenceID,
		ReferenceType:  c.ReferenceType,
		DataType:       "text", //nolint:staticcheck // deprecated by the contract, and kept
		DataTypes:      c.DataTypes,
		Data:           object(c.Data),
		Metadata:       object(c.Metadata),
		ChildrenNumber: count(counts.Of(c.ID, store.CountReplies)),
		FlagCount:      count(c.FlagCount),
		HashFlag:       HashFlag(c.Flaggers),
		IsDeleted:      c.DeletedAt != nil,
		ApprovalStatus: c.ApprovalStatus,
		EditedAt:       ts(c.EditedAt),
		CreatedAt:      ts(c.CreatedAt),
		UpdatedAt:      ts(c.UpdatedAt),
		Children:       c.ReplyIDs,
		SegmentNumber:  count(c.Segment),
		Mentionees:     mentionees(c.Mentionees),
		Attachments:    Attachments(c.Attachments),
		TargetId:       c.TargetPublicID,
		TargetType:     c.TargetType,
	}
	if m.GetIsDeleted() {
		m.Data, m.Metadata, m.Mentionees, m.Attachments = object(nil), object(nil), nil, nil
	}
	return m
}

// referencePath is the path of what a comment stands on.
func (b *Builder) referencePath(c store.Comment) string {
	if c.ReferenceType == store.ReferenceStory {
		return b.storyPath(c.TargetType, c.TargetID, c.ReferenceID)
	}
	return b.postPath(c.TargetType, c.TargetID, c.ReferenceID)
}

type attachment struct {
	Type   string `json:"type"`
	FileID string `json:"fileId"`
}

// AttachmentsJSON is the JSON of attachments, as rows hold it.
func AttachmentsJSON(list []*plazav1.Attachment) []byte {
	out := make([]attachment, len(list))
	for i, a := range list {
		out[i] = attachment{Type: a.GetType(), FileID: a.GetFileId()}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return []byte("[]")
	}
	return raw
}

// Attachments reads the attachments of a row.
func Attachments(raw []byte) []*plazav1.Attachment {
	if len(raw) <= 2 { // []
		return nil
	}
	var list []attachment
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil
	}
	out := make([]*plazav1.Attachment, len(list))
	for i, a := range list {
		out[i] = &plazav1.Attachment{Type: a.Type, FileId: a.FileID}
	}
	return out
}
