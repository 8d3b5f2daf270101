package bare

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
)

func (s *settings) set(name string, value []byte) error {
	switch name {
	case "isReportEnabled":
		return json.Unmarshal(value, &s.isReportEnabled)
	case "flagLimit":
		return json.Unmarshal(value, &s.flagLimit)
	}
	return nil
}

// newFlag is the body of a request to flag; it may be empty.
type newFlag struct {
	Reason string `json:"reason"`
	Detail string `json:"detail"`
}

func (s *Server) flagComment(ctx context.Context, r *http.Request, c claims) (any, error) {
	body := newFlag{Reason: "Others"}
	err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody)).Decode(&body)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, statusError(http.StatusBadRequest)
	}
	f, target, network, err := s.readTarget(ctx, r.PathValue("id"), c)
	if err != nil {
		return nil, err
	}
	if !network.isReportEnabled {
		return nil, statusError(http.StatusForbidden)
	}
	var after []comment
	now := time.Now().UTC().Truncate(time.Millisecond)
	err = s.write(ctx,
		ask("comments.guardAlive", nil, target.CommentID),
		ask("flags.guardLimit", nil, target.CommentID, c.Subject, network.flagLimit),
		ask("flags.insert", nil, target.CommentID, c.Subject, "comment", body.Reason, body.Detail, now),
		ask("flags.applyToComment", nil, target.CommentID),
		ask("flags.bubbleToPost", nil, target.ReferenceID),
		ask("flags.bubbleToCommunity", nil, target.targetInternalID),
		ask("comments.byID", collect(&after, s.scanComment), []string{target.CommentID}),
	)
	if err != nil {
		return nil, err
	}
	return s.answerComment(ctx, f, after[0])
}

// readTarget reads the comment to flag and decides whether the caller may.
func (s *Server) readTarget(ctx context.Context, id string, c claims) (*first, comment, settings, error) {
	var f first
	var comments []comment
	var posts []post
	var network settings
	err := s.read(ctx,
		ask("users.caller", collect(&f.callers, s.scanCaller), c.Subject, c.SessionID),
		ask("comments.byID", collect(&comments, s.scanComment), []string{id}),
		ask("posts.ofComment", collect(&posts, s.scanPost), id),
		ask("communities.ofComment", collect(&f.communities, s.scanCommunity), id),
		ask("members.ofComment", collect(&f.members, scanMember), id, c.Subject),
		ask("walls.ofComment", nil, id, c.Subject), // of no use in a community, but sent by the platform
		ask("stories.ofComment", nil, id),          // nor is this: the comment stands on a post
		ask("settings.read", network.scan),
	)
	if err != nil {
		return nil, comment{}, network, err
	}
	if len(comments) == 0 || comments[0].IsDeleted || len(posts) == 0 || posts[0].IsDeleted || posts[0].feedType != "published" {
		return nil, comment{}, network, statusError(http.StatusNotFound)
	}
	return &f, comments[0], network, f.check()
}

// answerComment reads what the comment refers to, in one round trip.
func (s *Server) answerComment(ctx context.Context, f *first, c comment) (any, error) {
	var authors set
	authors.add(c.UserInternalID)
	authors.add(c.replyAuthors...)
	others := authors.without(f.callers[0].UserInternalID)
	a := &commentAnswer{Comments: []comment{c}, Users: []user{}}
	if len(others) < len(authors.order) {
		a.Users = append(a.Users, f.callers[0].user)
	}
	var users []user
	var members []member
	n := newFacts()
	refs := append([]string{c.CommentID}, c.Children...)
	err := s.read(ctx,
		ask("users.byID", collect(&users, s.scanUser), others),
		ask("members.byUser", collect(&members, scanMember), f.communities[0].CommunityID, others),
		ask("counters.read", n.scanCounts, refs),
		ask("reactions.ofUser", n.scanReactions, refs, f.callers[0].UserInternalID),
		ask("files.ofUsers", nil, others), // nobody here has a picture
	)
	if err != nil {
		return nil, err
	}
	a.Users = append(a.Users, users...)
	a.CommunityUsers = append(append([]member{}, f.members...), members...)
	a.Comments[0].count(n)
	a.Roles = s.rolesOf(a.Users, a.CommunityUsers)
	return a, nil
}

func (s *Server) rolesOf(users []user, members []member) []role {
	var ids set
	for i := range users {
		ids.add(users[i].Roles...)
	}
	for i := range members {
		ids.add(members[i].Roles...)
	}
	roles := []role{}
	for _, id := range ids.order {
		if r, ok := s.roles[id]; ok {
			roles = append(roles, r)
		}
	}
	return roles
}

// builtinRoles makes the built-in roles once: they never change.
func builtinRoles() map[string]role {
	epoch := moment(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	roles := map[string]role{}
	for _, r := range auth.Builtin() {
		permissions := make([]string, len(r.Permissions))
		for i, p := range r.Permissions {
			permissions[i] = string(p)
		}
		roles[r.ID] = role{RoleID: r.ID, DisplayName: r.DisplayName, Permissions: permissions, CreatedAt: epoch, UpdatedAt: epoch}
	}
	return roles
}
