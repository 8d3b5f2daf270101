package view

import (
	"slices"

	"github.com/plaza-social/plaza/platform/store"
)

// bury takes from the deleted rows what they said and what they lead to: comments, child posts, answers, mentions, files, polls, streams
// and rooms. What is left of them keeps a place in a list. All that an answer speaks of comes from the known rows, so nothing that
// stands behind them alone is read, and none of it can leave.
func (k *Known) bury() {
	k.Posts = tombstones(k.Posts, func(p *store.Post) {
		if p.DeletedAt != nil {
			p.Data, p.Metadata, p.Mentionees, p.Tags, p.Hashtags = nil, nil, nil, nil, nil
			p.CommentIDs, p.CommentAuthors, p.Children = nil, nil, nil
		}
	})
	k.Comments = tombstones(k.Comments, func(c *store.Comment) {
		if c.DeletedAt != nil {
			c.Data, c.Metadata, c.Mentionees, c.Attachments = nil, nil, nil, nil
			c.ReplyIDs, c.ReplyAuthors = nil, nil
		}
	})
	k.Stories = tombstones(k.Stories, func(s *store.Story) {
		if s.DeletedAt != nil {
			s.Data, s.Items, s.Metadata, s.Mentionees = nil, nil, nil, nil
			s.CommentIDs, s.CommentAuthors = nil, nil
		}
	})
}

// tombstones applies bury to a copy of rows.
func tombstones[T any](rows []T, bury func(*T)) []T {
	rows = slices.Clone(rows)
	for i := range rows {
		bury(&rows[i])
	}
	return rows
}
