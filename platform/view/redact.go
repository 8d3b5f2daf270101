package view

import (
	"slices"

	"github.com/plaza-social/plaza/platform/store/content"
)

// redactDeleted clears the content and the references of deleted rows: data, mentions, comments, child posts, replies
// and attachments. The rows stay in the response as tombstones. Load follows references only from these rows, so
// nothing that is reachable through a deleted row alone is read or returned.
func (r *Rows) redactDeleted() {
	r.Posts = changed(r.Posts, func(p *content.Post) {
		if p.DeletedAt != nil {
			p.Data, p.Metadata, p.Mentionees, p.Tags, p.Hashtags, p.Annotations = nil, nil, nil, nil, nil, nil
			p.LatestComments, p.Children = nil, nil
		}
	})
	r.Comments = changed(r.Comments, func(c *content.Comment) {
		if c.DeletedAt != nil {
			c.Data, c.Metadata, c.Mentionees, c.Attachments, c.Annotations = nil, nil, nil, nil, nil
			c.LatestReplies = nil
		}
	})
	r.Stories = changed(r.Stories, func(s *content.Story) {
		if s.DeletedAt != nil {
			s.Data, s.Items, s.Metadata, s.Mentionees = nil, nil, nil, nil
			s.LatestComments = nil
		}
	})
}

// changed applies change to a copy of rows.
func changed[T any](rows []T, change func(*T)) []T {
	rows = slices.Clone(rows)
	for i := range rows {
		change(&rows[i])
	}
	return rows
}
