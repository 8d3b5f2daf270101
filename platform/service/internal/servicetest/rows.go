package servicetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
)

// NewPost returns a published post on a target.
func NewPost(targetType, targetID, authorID string) content.Post {
	return content.Post{
		ID: region.NewID(region.EU), TargetType: targetType, TargetID: targetID, TargetPublicID: targetID, AuthorID: authorID,
		AuthorPublicID: authorID,
		IsParent:       true, FeedType: "published", DataType: "text", StructureType: "text", Data: []byte(`{"text":"post"}`),
		Metadata:   []byte(`{}`),
		Mentionees: []byte(`[]`), CreatedAt: Noon,
	}
}

// NewStory returns a story on a target that ends an hour after Noon.
func NewStory(targetType, targetID, authorID string) content.Story {
	return content.Story{
		ID: region.NewID(region.EU), TargetType: targetType, TargetID: targetID, TargetPublicID: targetID, AuthorID: authorID,
		AuthorPublicID: authorID,
		DataType:       "text", Data: []byte(`{}`), Items: []byte(`[]`), Metadata: []byte(`{}`), Mentionees: []byte(`[]`),
		CreatedAt: Noon.Add(-time.Hour), ExpiresAt: Noon.Add(time.Hour),
	}
}

// NewComment returns an approved comment on a post or story.
func NewComment(referenceType, referenceID, targetType, targetID, authorID string) content.Comment {
	return content.Comment{
		ID: region.NewID(region.EU), ReferenceType: referenceType, ReferenceID: referenceID, TargetType: targetType, TargetID: targetID,
		TargetPublicID: targetID, AuthorID: authorID, AuthorPublicID: authorID, Data: []byte(`{}`), Metadata: []byte(`{}`),
		Mentionees:  []byte(`[]`),
		Attachments: []byte(`[]`), ApprovalStatus: content.Approved, CreatedAt: Noon,
	}
}

// Commit commits a transaction at the home EU.
func (w *World) Commit(t *testing.T, change func(tx *store.Tx)) {
	t.Helper()
	tx := w.Store.NewTx(region.EU)
	change(tx)
	require.NoError(t, tx.Commit(t.Context()))
}

// AddCommunity inserts a discoverable community of the home EU with members, and returns its id.
func (w *World) AddCommunity(t *testing.T, public bool, members ...string) string {
	t.Helper()
	c := communities.Community{
		ID: region.NewID(region.EU), IsPublic: public, IsDiscoverable: true, Metadata: []byte(`{}`),
		NotificationMode: "default", Type: "default",
	}
	var changes []communities.MemberChange
	for _, id := range members {
		changes = append(changes,
			communities.MemberChange{New: communities.Member{
				CommunityID: c.ID, UserID: id, UserPublicID: id, State: communities.StateMember,
				JoinedAt: Noon,
			}})
	}
	w.Commit(t, func(tx *store.Tx) {
		tx.InsertCommunity(c, nil, Noon)
		tx.ChangeMembers(c.ID, changes, Noon, Noon)
	})
	return c.ID
}

// AddUser inserts a user of the home EU with a session, and returns the user's internal id and a context of requests that the user makes.
func (w *World) AddUser(t *testing.T, roles ...string) (string, context.Context) {
	t.Helper()
	id, session := region.NewID(region.EU), region.NewID(region.EU)
	w.Commit(t, func(tx *store.Tx) {
		tx.InsertUser(people.User{ID: id, PublicID: id, DisplayName: "user"}, Noon)
		tx.InsertSession(people.Session{
			ID: session, UserID: id, DeviceHash: []byte{}, CreatedAt: Noon, ExpiresAt: Noon.Add(time.Hour),
			Authenticated: true,
		})
		var updated *people.User
		tx.UpdateUser(id, people.UserChange{Roles: roles}, Noon, &updated)
	})
	return id,
		auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.User, UserID: id, PublicID: id, SessionID: session, Home: region.EU, IssuedAt: Noon})
}
