package bare

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

const (
	maxBody       = 1 << 20 // bytes of a request
	maxText       = 50_000  // characters of a post
	counterShards = 16      // rows of a count
)

// newPost is the body of a request that creates a post.
type newPost struct {
	TargetType string   `json:"targetType"`
	TargetID   string   `json:"targetId"`
	DataType   string   `json:"dataType"`
	Data       document `json:"data"`
}

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

func (s *Server) createPost(ctx context.Context, r *http.Request, c claims) (any, error) {
	var body newPost
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody)).Decode(&body); err != nil {
		return nil, statusError(http.StatusBadRequest)
	}
	if err := body.check(); err != nil {
		return nil, err
	}
	var f found
	var creator *userRow
	var lists store.ModerationState
	b := s.newBatch()
	b.add("users.caller", c.Subject, c.SessionID).Query(db.Row(&f.caller))
	b.add("communities.byID", []string{body.TargetID}).Query(db.Row(&f.community))
	b.add("counters.read", []string{body.TargetID}).Query(db.Rows(&f.counts))
	b.add("categories.ofCommunity", body.TargetID).Query(db.Rows(&f.categories))
	b.add("users.creatorOfCommunity", body.TargetID).Query(db.Row(&creator))
	b.add("members.byUser", body.TargetID, []string{c.Subject}).Query(db.Row(&f.member))
	b.add("moderation.state").Query(db.RowOrZero(&lists))
	if err := f.read(ctx, b); err != nil {
		return nil, err
	}
	// This server does not check texts. The measured network has no moderation lists.
	if lists != (store.ModerationState{}) || !f.member.isMember() || f.community.OnlyAdminCanPost || f.community.NeedApprovalOnPostCreation {
		return nil, statusError(http.StatusForbidden)
	}
	f.users = []userRow{f.caller.userRow}
	if creator != nil && creator.UserInternalID != c.Subject {
		f.users = append(f.users, *creator)
	}
	if err := s.insertPost(ctx, &f, body); err != nil {
		return nil, err
	}
	f.counts = append(f.counts, countRow{body.TargetID, store.CountPublished, f.count(body.TargetID, store.CountPublished) + 1})
	return withFeed(s.build(&f)), nil
}

// insertPost inserts the post and adds it to f.
func (s *Server) insertPost(ctx context.Context, f *found, body newPost) error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	p := postRow{
		PostID: region.NewID(s.home), TargetType: body.TargetType, TargetInternalID: body.TargetID, TargetID: body.TargetID,
		PostedUserInternalID: f.caller.UserInternalID, PostedUserID: f.caller.UserID, IsParent: true, Children: []string{},
		FeedType: "published", DataType: "text", StructureType: "text", Data: body.Data, Metadata: document("{}"), Tags: []string{},
		Hashtags: []string{}, Mentionees: document("[]"), times: times{CreatedAt: moment(now), UpdatedAt: moment(now)}, EditedAt: moment(now),
	}
	f.posts = []postRow{p}
	shard := rand.Int64N(counterShards) //nolint:gosec // the choice of the row is not secret
	event, err := json.Marshal([]store.Event{postCreated(p, now)})
	if err != nil {
		return err
	}
	keys, words, weights := store.SearchColumns(store.Post{Data: []byte(p.Data)})
	return s.write(ctx, func(b *batch) {
		b.add("outbox.add", rand.Int64N(store.OutboxLanes), region.NewID(s.home), store.TopicRealtime, event, now, now, p.PostID, "") //nolint:gosec // see shard
		b.add("counters.add", body.TargetID, "published", shard, 1)
		b.add("communities.isLive", body.TargetID)
		b.add("posts.insert", p.PostID, p.TargetType, p.TargetInternalID, p.TargetID, p.PostedUserInternalID, p.PostedUserID,
			p.ParentPostID, p.IsParent, p.Children, p.FeedType, p.DataType, p.StructureType, []byte(p.Data), []byte(p.Metadata), p.Tags,
			p.Hashtags, []byte(p.Mentionees), []byte("{}"), now, now, now)
		b.add("searchWords.insert", p.PostID, now, keys, words, weights)
	})
}

// postCreated returns the event that the outbox delivers to realtime clients.
func postCreated(p postRow, now time.Time) store.Event {
	return store.Event{
		ID: p.PostID, Name: "post.created", Topic: p.PostID, SenderID: p.PostedUserInternalID, SentAt: now,
		Payload: json.RawMessage(`{"kind":"post","id":"` + p.PostID + `","place":{"kind":"community","id":"` + p.TargetInternalID + `"}}`),
	}
}

// count returns a count that was read.
func (f *found) count(ref string, kind store.CounterKind) int64 {
	for _, row := range f.counts {
		if row.Ref == ref && row.Kind == kind {
			return row.N
		}
	}
	return 0
}
