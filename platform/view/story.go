package view

import (
	"encoding/json"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func (b *Builder) storyPath(targetType, targetID, storyID string) string {
	return b.TargetPath(targetType, targetID) + "/story/" + storyID
}

// story makes the message of a story.
func (b *Builder) story(s store.Story, counts store.Counts) *plazav1.Story {
	return &plazav1.Story{
		StoryId:           s.ID,
		Data:              withSizes(object(s.Data)),
		Path:              b.storyPath(s.TargetType, s.TargetID, s.ID),
		CreatorId:         s.AuthorID,
		CreatorPublicId:   s.AuthorPublicID,
		TargetId:          s.TargetID,
		TargetPublicId:    s.TargetPublicID,
		Items:             objects(s.Items),
		Metadata:          object(s.Metadata),
		FlagCount:         count(s.FlagCount),
		HashFlag:          HashFlag(s.Flaggers),
		CreatedAt:         ts(s.CreatedAt),
		UpdatedAt:         ts(s.UpdatedAt),
		ExpiresAt:         ts(s.ExpiresAt),
		CommentsCount:     count(counts.Of(s.ID, store.CountComments)),
		IsDeleted:         s.DeletedAt != nil,
		HasFlaggedComment: s.HasFlaggedComment,
		MentionedUsers:    mentionedUsers(s.Mentionees),
		Impression:        count(counts.Of(s.ID, store.CountImpressions)),
		Reach:             count(counts.Of(s.ID, store.CountReach)),
		TargetType:        s.TargetType,
		DataType:          s.DataType,
		ReferenceId:       s.ReferenceID,
		Comments:          s.CommentIDs,
	}
}

func mentionedUsers(raw []byte) []*plazav1.MentionedUsers {
	var out []*plazav1.MentionedUsers
	for _, m := range Mentions(raw) {
		out = append(out, &plazav1.MentionedUsers{Type: m.Type, UserIds: m.UserInternalIDs, UserPublicIds: m.UserPublicIDs})
	}
	return out
}

// objects reads a JSON array of objects of a row.
func objects(raw []byte) []*structpb.Struct {
	var parts []json.RawMessage
	if len(raw) <= 2 || json.Unmarshal(raw, &parts) != nil { // []
		return nil
	}
	out := make([]*structpb.Struct, len(parts))
	for i, part := range parts {
		out[i] = object(part)
	}
	return out
}

// ObjectsJSON is the JSON of objects of a request, as rows hold it.
func ObjectsJSON(list []*structpb.Struct) []byte {
	parts := make([]json.RawMessage, len(list))
	for i, s := range list {
		parts[i] = ObjectJSON(s)
	}
	raw, err := json.Marshal(parts)
	if err != nil {
		return []byte("[]")
	}
	return raw
}

func (g *gathering) story(s store.Story) *plazav1.Story {
	m := g.builder.story(s, g.Counts)
	m.Reactions, m.ReactionsCount = reactions(g.Counts, s.ID)
	m.MyReactions = g.mineOf(s.ID)
	return m
}

func (g *gathering) buildStories(a *Aggregate) {
	for _, s := range g.Stories {
		a.Stories = append(a.Stories, g.story(s))
	}
}

// StoryTarget makes the message of a target.
func (b *Builder) StoryTarget(t store.StoryTarget) *plazav1.StoryTarget {
	return &plazav1.StoryTarget{
		TargetId:               t.TargetID,
		TargetType:             t.TargetType,
		TargetPublicId:         t.TargetPublicID,
		TargetUpdatedAt:        tsUnlessZero(t.UpdatedAt),
		LastStoryExpiresAt:     tsUnlessLongAgo(t.LastExpiresAt),
		LastStorySeenExpiresAt: tsOrNil(t.SeenExpiresAt),
	}
}

// StoryTargets makes the messages of targets.
func (b *Builder) StoryTargets(rows []store.StoryTarget) []*plazav1.StoryTarget {
	var out []*plazav1.StoryTarget
	for _, t := range rows {
		out = append(out, b.StoryTarget(t))
	}
	return out
}

// tsUnlessLongAgo is nil for the time that stands for never.
func tsUnlessLongAgo(t time.Time) *timestamppb.Timestamp {
	if t.Year() <= 1 {
		return nil
	}
	return ts(t)
}

// StoryAggregate is the answer about stories.
func (a *Aggregate) StoryAggregate() *plazav1.StoryResponse {
	return &plazav1.StoryResponse{
		Stories: a.Stories, Comments: a.Comments, Files: a.Files, Users: a.Users, Communities: a.Communities,
		CommunityUsers: a.CommunityUsers, Categories: a.Categories,
	}
}

// StoryList is the answer with a page of stories and their targets.
func (a *Aggregate) StoryList(targets []*plazav1.StoryTarget, paging *plazav1.Paging) *plazav1.ListStoriesResponse {
	return &plazav1.ListStoriesResponse{
		Stories: a.Stories, Comments: a.Comments, Files: a.Files, Users: a.Users, Communities: a.Communities,
		CommunityUsers: a.CommunityUsers, Categories: a.Categories, StoryTargets: targets, Paging: paging,
	}
}
