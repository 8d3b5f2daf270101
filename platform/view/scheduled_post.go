package view

import (
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ScheduledPosts returns the response with a page of scheduled posts. The posts of a must be in the order of rows.
func (b *Builder) ScheduledPosts(a *Aggregate, rows []content.ScheduledPost, paging *plazav1.Paging) *plazav1.ListScheduledPostsResponse {
	m := Fill(a, &plazav1.ListScheduledPostsResponse{NetworkId: b.NetworkID, Paging: paging})
	for i, row := range rows {
		m.Data = append(m.Data, scheduledPost(a, row, a.Posts[i]))
	}
	return m
}

func scheduledPost(a *Aggregate, row content.ScheduledPost, post *plazav1.Post) *plazav1.ScheduledPost {
	post.PublisherId, post.PublisherPublicId = row.AuthorID, row.AuthorPublicID
	m := &plazav1.ScheduledPost{
		PrivateId: row.ID, ScheduledAt: ts(row.ScheduledAt), PostData: post, UserId: row.AuthorPublicID,
		CreatedAt: ts(row.CreatedAt), UpdatedAt: ts(row.UpdatedAt),
		Status: &plazav1.ScheduledPostStatus{Code: row.Status, Description: row.Description},
	}
	for _, u := range a.Users {
		if u.GetPrivateId() == row.AuthorID {
			m.UserDisplayName = u.GetDisplayName()
		}
	}
	for _, c := range a.Communities {
		if c.GetCommunityId() == row.TargetID {
			m.Communities = append(m.Communities, c)
		}
	}
	m.Files = childFiles(a, post)
	return m
}

// childFiles returns the files of a post's children.
func childFiles(a *Aggregate, post *plazav1.Post) []*plazav1.File {
	wanted := newIDSet()
	for _, child := range a.PostChildren {
		if child.GetParentPostId() == post.GetPostId() {
			data := freeform.Of(child.GetData())
			wanted.add(data.Text("fileId"), data.Text("videoFileId", "original"))
		}
	}
	var files []*plazav1.File
	for _, f := range a.Files {
		if f.GetFileId() != "" && wanted.has(f.GetFileId()) {
			files = append(files, f)
		}
	}
	return files
}
