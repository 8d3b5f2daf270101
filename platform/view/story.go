package view

import (
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// StoryPath returns the path of a story.
func (b *Builder) StoryPath(s content.Story) string {
	return b.storyPath(s.TargetType, s.TargetID, s.ID)
}

func (b *Builder) storyPath(targetType, targetID, storyID string) string {
	return b.TargetPath(targetType, targetID) + "/story/" + storyID
}

// story converts a story.
func (b *Builder) story(s content.Story, counts core.Counts) *plazav1.Story {
	return &plazav1.Story{
		StoryId:           s.ID,
		Data:              object(withSizes(s.Data)),
		Path:              b.StoryPath(s),
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
		CommentsCount:     count(counts.Of(s.ID, core.CountComments)),
		IsDeleted:         s.DeletedAt != nil,
		HasFlaggedComment: s.HasFlaggedComment,
		MentionedUsers:    mentionedUsers(s.Mentionees),
		Impression:        count(counts.Of(s.ID, content.CountImpressions)),
		Reach:             count(counts.Of(s.ID, content.CountReach)),
		TargetType:        s.TargetType,
		DataType:          s.DataType,
		ReferenceId:       s.ReferenceID,
		Comments:          s.LatestComments.IDs(),
	}
}

func mentionedUsers(raw []byte) []*plazav1.MentionedUsers {
	return mapList(Mentions(raw), func(m Mention) *plazav1.MentionedUsers {
		return &plazav1.MentionedUsers{Type: m.Type, UserIds: m.UserInternalIDs, UserPublicIds: m.UserPublicIDs}
	})
}

func (l *loader) buildStories(a *Aggregate) {
	for _, s := range l.Stories {
		m := l.builder.story(s, l.Counts)
		m.Reactions, m.ReactionsCount = reactions(l.Counts, s.ID)
		m.MyReactions = reactionsTo(s.ID, l.mine)
		a.Stories = append(a.Stories, m)
	}
}

// StoryTarget converts the story target of a community or a user.
func (b *Builder) StoryTarget(t content.StoryTarget) *plazav1.StoryTarget {
	return &plazav1.StoryTarget{
		TargetId:               t.TargetID,
		TargetType:             t.TargetType,
		TargetPublicId:         t.TargetPublicID,
		TargetUpdatedAt:        tsUnlessZero(t.UpdatedAt),
		LastStoryExpiresAt:     tsUnlessNever(t.LastExpiresAt),
		LastStorySeenExpiresAt: tsOrNil(t.SeenExpiresAt),
	}
}

// StoryTargets converts story targets.
func (b *Builder) StoryTargets(rows []content.StoryTarget) []*plazav1.StoryTarget {
	return mapList(rows, b.StoryTarget)
}
