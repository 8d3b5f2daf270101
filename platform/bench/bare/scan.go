package bare

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/view"
)

// collect scans every row with one.
func collect[T any](into *[]T, one func(pgx.Rows, *T) error) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*into = (*into)[:0]
		for rows.Next() {
			var row T
			if err := one(rows, &row); err != nil {
				return err
			}
			*into = append(*into, row)
		}
		return nil
	}
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// scanCaller scans the caller's row and whether the session of the token is active.
func (s *Server) scanCaller(rows pgx.Rows, c *caller) error {
	return s.scanUserAnd(rows, &c.user, &c.sessionLive)
}

func (s *Server) scanUser(rows pgx.Rows, u *user) error { return s.scanUserAnd(rows, u) }

func (s *Server) scanUserAnd(rows pgx.Rows, u *user, more ...any) error {
	err := rows.Scan(append([]any{
		&u.UserInternalID, &u.UserID, &u.DisplayName, &u.ProfileHandle, &u.Description, &u.AvatarFileID, &u.AvatarCustomURL,
		&u.Roles, (*[]byte)(&u.Metadata), &u.flaggers, &u.FlagCount, &u.IsGlobalBan, &u.IsBrand, (*time.Time)(&u.CreatedAt),
		(*time.Time)(&u.UpdatedAt), &u.deletedAt,
	}, more...)...)
	u.PrivateID, u.UserPublicID, u.IsGlobalBanned = u.UserInternalID, u.UserID, u.IsGlobalBan
	u.Path = s.networkID + "/user/" + u.UserInternalID
	u.Permissions = auth.PermissionsOf(u.Roles)
	u.HashFlag = view.HashFlag(u.flaggers)
	u.IsDeleted = u.deletedAt != nil
	return err
}

func (s *Server) scanPost(rows pgx.Rows, p *post) error {
	err := rows.Scan(&p.PostID, &p.TargetType, &p.TargetInternalID, &p.TargetID, &p.PostedUserInternalID, &p.PostedUserID,
		&p.ParentPostID, &p.isParent, &p.Children, &p.feedType, &p.DataType, &p.StructureType, (*[]byte)(&p.Data),
		(*[]byte)(&p.Metadata), &p.Tags, &p.Hashtags, (*[]byte)(&p.Mentionees), &p.flaggers, &p.FlagCount,
		&p.HasFlaggedChildren, &p.HasFlaggedComment, (*time.Time)(&p.CreatedAt), (*time.Time)(&p.UpdatedAt),
		(*time.Time)(&p.EditedAt), &p.deletedAt, &p.Comments, &p.commentAuthors)
	s.complete(p)
	return err
}

// complete sets the fields that are derived from others.
func (s *Server) complete(p *post) {
	p.PrivateID, p.TargetPublicID, p.PostedUserPublicID = p.PostID, p.TargetID, p.PostedUserID
	p.Path = s.networkID + "/social/" + p.TargetType + "/" + p.TargetInternalID + "/post/" + p.PostID
	p.HashFlag = view.HashFlag(p.flaggers)
	p.FeedID = view.FeedID(p.TargetInternalID, p.feedType)
	p.Comments, p.Children = list(p.Comments), list(p.Children)
	p.ChildrenNumber = int64(len(p.Children))
	p.IsDeleted = p.deletedAt != nil
}

func (s *Server) scanComment(rows pgx.Rows, c *comment) error {
	err := rows.Scan(&c.CommentID, &c.ReferenceType, &c.ReferenceID, &c.TargetType, &c.targetInternalID, &c.TargetID, &c.ParentID,
		&c.RootID, &c.UserInternalID, &c.UserID, &c.DataTypes, (*[]byte)(&c.Data), (*[]byte)(&c.Metadata),
		(*[]byte)(&c.Mentionees), (*[]byte)(&c.Attachments), &c.SegmentNumber, &c.ApprovalStatus, &c.flaggers, &c.FlagCount,
		(*time.Time)(&c.CreatedAt), (*time.Time)(&c.UpdatedAt), (*time.Time)(&c.EditedAt), &c.deletedAt, &c.Children, &c.replyAuthors)
	c.PrivateID, c.UserPublicID, c.DataType = c.CommentID, c.UserID, "text"
	c.Path = s.networkID + "/social/" + c.TargetType + "/" + c.targetInternalID + "/post/" + c.ReferenceID + "/comment/" + c.CommentID
	c.HashFlag = view.HashFlag(c.flaggers)
	c.Children = list(c.Children)
	c.IsDeleted = c.deletedAt != nil
	return err
}

func (s *Server) scanCommunity(rows pgx.Rows, c *community) error {
	err := rows.Scan(&c.CommunityID, &c.DisplayName, &c.UserInternalID, &c.UserID, &c.Description, &c.AvatarFileID, &c.IsOfficial,
		&c.IsPublic, &c.IsDiscoverable, &c.OnlyAdminCanPost, &c.NeedApprovalOnPostCreation, &c.NeedApprovalOnCommentCreation,
		&c.RequiresJoinApproval, &c.AllowCommentInStory, &c.NotificationMode, &c.Type, &c.Tags, (*[]byte)(&c.Metadata),
		&c.CategoryIDs, &c.HasFlaggedPost, &c.HasFlaggedComment, (*time.Time)(&c.CreatedAt), (*time.Time)(&c.UpdatedAt), &c.deletedAt)
	c.ChannelID, c.PrivateID, c.UserPublicID = c.CommunityID, c.CommunityID, c.UserID
	c.Path = s.networkID + "/social/community/" + c.CommunityID
	c.IsDeleted = c.deletedAt != nil
	return err
}

func scanMember(rows pgx.Rows, m *member) error {
	var state string
	var version int64
	err := rows.Scan(&m.CommunityID, &m.UserInternalID, &m.UserID, &state, &m.Roles, &version, (*time.Time)(&m.LastJoin),
		(*time.Time)(&m.CreatedAt), (*time.Time)(&m.UpdatedAt))
	m.UserPublicID, m.ChannelID = m.UserID, m.CommunityID
	m.CommunityMembership = state
	if state != "member" && state != "banned" {
		m.CommunityMembership, m.NotMemberReason = "none", state
	}
	m.IsBanned = state == "banned"
	m.LastActivity = m.UpdatedAt
	m.Permissions = auth.PermissionsOf(m.Roles)
	return err
}

func scanCategory(rows pgx.Rows, c *category) error {
	var nameKey string
	var deletedAt *time.Time
	err := rows.Scan(&c.CategoryID, &c.Name, &nameKey, (*[]byte)(&c.Metadata), &c.AvatarFileID, (*time.Time)(&c.CreatedAt),
		(*time.Time)(&c.UpdatedAt), &deletedAt)
	c.IsDeleted = deletedAt != nil
	return err
}

// facts holds counts by reference and kind, and the caller's reactions by reference.
type facts struct {
	counts map[string]map[string]int64
	mine   map[string][]string
}

func newFacts() *facts {
	return &facts{counts: map[string]map[string]int64{}, mine: map[string][]string{}}
}

func (f *facts) scanCounts(rows pgx.Rows) error {
	for rows.Next() {
		var ref, kind string
		var n int64
		if err := rows.Scan(&ref, &kind, &n); err != nil {
			return err
		}
		if f.counts[ref] == nil {
			f.counts[ref] = map[string]int64{}
		}
		f.counts[ref][kind] = n
	}
	return nil
}

func (f *facts) scanReactions(rows pgx.Rows) error {
	for rows.Next() {
		var kind, ref, userID, publicID, name, id string
		var createdAt time.Time
		if err := rows.Scan(&kind, &ref, &userID, &publicID, &name, &id, &createdAt); err != nil {
			return err
		}
		f.mine[ref] = append(f.mine[ref], name)
	}
	return nil
}

// reactions returns the counts by name, their sum, and the caller's own reactions.
func (f *facts) reactions(ref string) (byName map[string]int64, sum int64, mine []string) {
	byName = map[string]int64{}
	for kind, n := range f.counts[ref] {
		if name, ok := strings.CutPrefix(kind, "reaction:"); ok && n > 0 {
			byName[name] = n
			sum += n
		}
	}
	return byName, sum, list(f.mine[ref])
}
