package bare

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/view"
)

// caller is the calling user.
type caller struct {
	user
	sessionLive bool
}

// first is what every operation reads first.
type first struct {
	callers     []caller
	communities []community
	members     []member // the caller's membership
}

// check returns an error if the caller or the community does not exist or denies access.
func (f *first) check() error {
	switch {
	case len(f.callers) == 0 || f.callers[0].IsDeleted || !f.callers[0].sessionLive:
		return statusError(http.StatusUnauthorized)
	case f.callers[0].IsGlobalBan:
		return statusError(http.StatusForbidden)
	case len(f.communities) == 0 || f.communities[0].IsDeleted:
		return statusError(http.StatusNotFound)
	case !f.communities[0].IsPublic && !f.isMember(), len(f.members) > 0 && f.members[0].IsBanned:
		return statusError(http.StatusForbidden)
	}
	return nil
}

func (f *first) isMember() bool {
	return len(f.members) > 0 && f.members[0].CommunityMembership == "member"
}

func (s *Server) getPost(ctx context.Context, r *http.Request, c claims) (any, error) {
	id := r.PathValue("id")
	var f first
	var posts []post
	err := s.read(ctx,
		ask("users.caller", collect(&f.callers, s.scanCaller), c.Subject, c.SessionID),
		ask("posts.byID", collect(&posts, s.scanPost), []string{id}),
		ask("communities.ofPost", collect(&f.communities, s.scanCommunity), id),
		ask("members.ofPost", collect(&f.members, scanMember), id, c.Subject),
		ask("walls.ofPost", nil, id, c.Subject), // not needed for posts of communities, but sent by the platform
	)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if len(posts) == 0 || posts[0].IsDeleted || posts[0].feedType != "published" {
		return nil, statusError(http.StatusNotFound)
	}
	a, n, err := s.relatedTo(ctx, &f, posts, nil)
	if err != nil {
		return nil, err
	}
	return &postAnswer{related: a, Feeds: feedsOf(f.communities, n, posts[0].FeedID)}, nil
}

func (s *Server) listFeed(ctx context.Context, r *http.Request, c claims) (any, error) {
	id := r.PathValue("id")
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > 100 {
		return nil, statusError(http.StatusUnprocessableEntity)
	}
	after, _, afterID := page.Cursor{}.Start(true)
	var f first
	var posts []post
	categories := []category{}
	err = s.read(ctx,
		ask("users.caller", collect(&f.callers, s.scanCaller), c.Subject, c.SessionID),
		ask("communities.byID", collect(&f.communities, s.scanCommunity), []string{id}),
		ask("categories.ofCommunity", collect(&categories, scanCategory), id),
		ask("members.byUser", collect(&f.members, scanMember), id, []string{c.Subject}),
		ask("posts.listParentsCreatedDesc", collect(&posts, s.scanPost), id, "published", after, afterID, limit+1, "live", []string{}),
	)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	var paging paging
	if len(posts) > limit {
		posts = posts[:limit]
		last := posts[limit-1]
		paging.Next = sealOf(r, c) + page.Cursor{Limit: limit, Time: time.Time(last.CreatedAt), ID: last.PostID}.Token()
	}
	a, _, err := s.relatedTo(ctx, &f, posts, categories)
	if err != nil {
		return nil, err
	}
	return &feedAnswer{Status: "success", Data: feedData{related: a, Paging: paging}, Paging: paging}, nil
}

// sealOf returns the seal of a page token. It differs from the platform's but has the same length.
func sealOf(r *http.Request, c claims) string {
	sum := sha256.Sum256([]byte(r.URL.Path + "\x00" + c.Subject))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:page.SealLength]
}

// relatedTo reads the resources to which posts refer, in one round trip. categories is nil if they were not read yet.
func (s *Server) relatedTo(ctx context.Context, f *first, posts []post, categories []category) (related, *facts, error) {
	a := related{
		Posts: posts, Comments: []comment{}, Users: []user{}, Communities: f.communities, Categories: categories,
	}
	var commentIDs []string
	var authors set
	refs := set{order: []string{f.communities[0].CommunityID}}
	for i := range posts {
		p := &posts[i]
		commentIDs = append(commentIDs, p.Comments...)
		authors.add(p.PostedUserInternalID)
		authors.add(p.commentAuthors...)
		refs.add(p.PostID)
		refs.add(p.Comments...)
	}
	me := f.callers[0].UserInternalID
	if authors.has[me] {
		a.Users = append(a.Users, f.callers[0].user)
	}
	others := authors.without(me)
	authors.add(f.communities[0].UserInternalID)
	n := newFacts()
	var members []member
	var users []user
	queries := []query{
		ask("users.byID", collect(&users, s.scanUser), authors.without(me)),
		ask("members.byUser", collect(&members, scanMember), f.communities[0].CommunityID, others),
		ask("comments.byID", collect(&a.Comments, s.scanComment), commentIDs),
		ask("counters.read", n.scanCounts, refs.order),
		ask("reactions.ofUser", n.scanReactions, refs.order, f.callers[0].UserInternalID),
		ask("files.ofUsers", nil, authors.without(me)), // no user has a picture
	}
	if categories == nil {
		a.Categories = []category{}
		queries = append(queries, ask("categories.byID", collect(&a.Categories, scanCategory), f.communities[0].CategoryIDs))
	}
	if err := s.read(ctx, queries...); err != nil {
		return a, nil, err
	}
	a.Users = append(a.Users, users...)
	a.CommunityUsers = append(append([]member{}, f.members...), members...)
	a.count(n, f.isMember())
	return a, n, nil
}

// count sets the counts.
func (a *related) count(n *facts, isJoined bool) {
	for i := range a.Posts {
		p := &a.Posts[i]
		p.CommentsCount = n.counts[p.PostID]["comments"]
		p.Reactions, p.ReactionsCount, p.MyReactions = n.reactions(p.PostID)
	}
	for i := range a.Comments {
		a.Comments[i].count(n)
	}
	for i := range a.Communities {
		c := &a.Communities[i]
		counts := n.counts[c.CommunityID]
		c.PostsCount, c.MembersCount, c.ModeratorMemberCount = counts["published"], counts["members"], counts["moderators"]
		c.IsJoined = isJoined
	}
}

func (c *comment) count(n *facts) {
	c.ChildrenNumber = n.counts[c.CommentID]["replies"]
	c.Reactions, c.ReactionsCount, c.MyReactions = n.reactions(c.CommentID)
}

// feedsOf returns the published feeds of the communities whose id is wanted.
func feedsOf(communities []community, n *facts, wanted string) []feed {
	feeds := []feed{}
	for i := range communities {
		c := &communities[i]
		id := view.FeedID(c.CommunityID, "published")
		if id == wanted {
			feeds = append(feeds, feed{
				TargetID: c.CommunityID, TargetType: "community", PostCount: n.counts[c.CommunityID]["published"],
				FeedType: "published", FeedID: id, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
			})
		}
	}
	return feeds
}

// newPost is the body of a request that creates a post.
type newPost struct {
	TargetType string          `json:"targetType"`
	TargetID   string          `json:"targetId"`
	DataType   string          `json:"dataType"`
	Data       json.RawMessage `json:"data"`
}

// maxBody is the maximum size of a request body in bytes, maxText that of a post's text in characters.
const (
	maxBody = 1 << 20
	maxText = 50_000
)

// counterShards is the number of rows of a counter.
const counterShards = 16

func (p *newPost) check() error {
	var data struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(p.Data, &data)
	if err != nil || p.TargetType != "community" || data.Text == "" || utf8.RuneCountInString(data.Text) > maxText {
		return statusError(http.StatusUnprocessableEntity)
	}
	return nil
}

// moderation is the state of the network's moderation lists. The measured network has none; if there are any, this
// server rejects posts.
type moderation struct {
	allowListOn bool
	version     string
}

func (m *moderation) any() bool { return m.allowListOn || m.version != "" }

func (m *moderation) scan(rows pgx.Rows) error {
	for rows.Next() {
		if err := rows.Scan(&m.allowListOn, &m.version); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *Server) createPost(ctx context.Context, r *http.Request, c claims) (any, error) {
	var body newPost
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody)).Decode(&body); err != nil {
		return nil, statusError(http.StatusBadRequest)
	}
	if err := body.check(); err != nil {
		return nil, err
	}
	var f first
	var creators []user
	var lists moderation
	categories := []category{}
	err := s.read(ctx,
		ask("users.caller", collect(&f.callers, s.scanCaller), c.Subject, c.SessionID),
		ask("communities.byID", collect(&f.communities, s.scanCommunity), []string{body.TargetID}),
		ask("categories.ofCommunity", collect(&categories, scanCategory), body.TargetID),
		ask("users.creatorOfCommunity", collect(&creators, s.scanUser), body.TargetID),
		ask("members.byUser", collect(&f.members, scanMember), body.TargetID, []string{c.Subject}),
		ask("moderation.state", lists.scan),
	)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if lists.any() || !f.isMember() || f.communities[0].OnlyAdminCanPost || f.communities[0].NeedApprovalOnPostCreation {
		return nil, statusError(http.StatusForbidden)
	}
	p := s.postOf(body, f.callers[0].user)
	n := newFacts()
	now := time.Time(p.CreatedAt)
	shard := rand.Int64N(counterShards) //nolint:gosec // the choice of the row is not secret
	err = s.write(ctx,
		ask("communities.isLive", nil, body.TargetID),
		ask("posts.insert", nil, p.PostID, p.TargetType, p.TargetInternalID, p.TargetID, p.PostedUserInternalID, p.PostedUserID,
			"", true, []string{}, p.feedType, p.DataType, p.StructureType, []byte(p.Data), []byte(p.Metadata), p.Tags, p.Hashtags,
			[]byte(p.Mentionees), now),
		ask("counters.add", nil, body.TargetID, "published", shard, 1),
		ask("counters.read", n.scanCounts, []string{body.TargetID}),
	)
	if err != nil {
		return nil, err
	}
	a := related{
		Posts: []post{p}, Comments: []comment{}, Users: []user{f.callers[0].user}, Communities: f.communities,
		CommunityUsers: f.members, Categories: categories,
	}
	if len(creators) > 0 && creators[0].UserInternalID != c.Subject {
		a.Users = append(a.Users, creators[0])
	}
	a.count(n, true)
	return &postAnswer{related: a, Feeds: feedsOf(f.communities, n, p.FeedID)}, nil
}

func (s *Server) postOf(body newPost, author user) post {
	now := moment(time.Now().UTC().Truncate(time.Millisecond))
	p := post{
		PostID: region.NewID(s.home), TargetType: body.TargetType, TargetInternalID: body.TargetID, TargetID: body.TargetID,
		PostedUserInternalID: author.UserInternalID, PostedUserID: author.UserID, isParent: true, feedType: "published",
		DataType: "text", StructureType: "text", Data: body.Data, Metadata: json.RawMessage("{}"), Tags: []string{},
		Hashtags: []string{}, Mentionees: json.RawMessage("[]"), CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
	s.complete(&p)
	return p
}

// set is a set of strings that keeps their order of insertion.
type set struct {
	order []string
	has   map[string]bool
}

func (s *set) add(texts ...string) {
	if s.has == nil {
		s.has = map[string]bool{}
	}
	for _, text := range texts {
		if !s.has[text] {
			s.has[text] = true
			s.order = append(s.order, text)
		}
	}
}

func (s *set) without(one string) []string {
	rest := make([]string, 0, len(s.order))
	for _, text := range s.order {
		if text != one {
			rest = append(rest, text)
		}
	}
	return rest
}
