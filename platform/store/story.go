package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// MaxStoryLife is the longest that a story lasts.
const MaxStoryLife = 1440 * time.Minute

// Story is a row of stories.
type Story struct {
	ID                string
	TargetType        string // community or user
	TargetID          string // internal id
	TargetPublicID    string
	AuthorID          string // internal id
	AuthorPublicID    string
	ReferenceID       string // of the client that made it
	DataType          string // text, image or video
	Data              []byte // JSON object
	Items             []byte // JSON array
	Metadata          []byte // JSON object
	Mentionees        []byte // JSON array
	Flaggers          []string
	FlagCount         int64
	HasFlaggedComment bool
	CreatedAt         time.Time
	UpdatedAt         time.Time
	ExpiresAt         time.Time
	DeletedAt         *time.Time

	// CommentIDs are the latest comments of the first level, newest first, and CommentAuthors who wrote them.
	CommentIDs     []string
	CommentAuthors []string
}

// IsLive reports whether the story is there for everybody: it is not deleted and lasts. A nil Story is not.
func (s *Story) IsLive(now time.Time) bool {
	return s != nil && s.DeletedAt == nil && now.Before(s.ExpiresAt)
}

const storyColumns = `id, target_type, target_id, target_public_id, author_id, author_public_id, reference_id, data_type, data, items,
	metadata, mentionees, flaggers, flag_count, has_flagged_comment, created_at, updated_at, expires_at, deleted_at`

func scanStory(rows pgx.Rows) (Story, error) {
	var s Story
	err := rows.Scan(&s.ID, &s.TargetType, &s.TargetID, &s.TargetPublicID, &s.AuthorID, &s.AuthorPublicID, &s.ReferenceID, &s.DataType, &s.Data, &s.Items,
		&s.Metadata, &s.Mentionees, &s.Flaggers, &s.FlagCount, &s.HasFlaggedComment, &s.CreatedAt, &s.UpdatedAt, &s.ExpiresAt, &s.DeletedAt,
		&s.CommentIDs, &s.CommentAuthors)
	return s, err
}

// The community that a story is in, as a condition; nothing where it is on a wall.
const communityOfStory = `(SELECT target_id FROM stories WHERE home = $1 AND stories.id = $2 AND target_type = 'community')`

// sqlStoryExpiry is when the last live story of the target $2 ends; long ago without any.
const sqlStoryExpiry = `COALESCE((SELECT max(expires_at) FROM stories WHERE home = $1 AND target_id = $2 AND deleted_at IS NULL), '0001-01-01'::timestamptz)`

var (
	sqlStoriesByID = stmt("stories.byID", withLatestComments(storyColumns, `SELECT `+storyColumns+` FROM stories WHERE home = $1 AND id = ANY($2::text[])`, ""))
	sqlStoryOf     = stmt("stories.ofComment", withLatestComments(storyColumns, `SELECT `+storyColumns+` FROM stories
		WHERE home = $1 AND id = (SELECT reference_id FROM comments WHERE home = $1 AND comments.id = $2)`, ""))
	sqlCommunityOfStory = stmt("communities.ofStory", `SELECT `+communityColumns+` FROM communities WHERE home = $1 AND communities.id = `+communityOfStory)
	sqlMemberOfStory    = stmt("members.ofStory", `SELECT `+memberColumns+` FROM community_members
		WHERE home = $1 AND community_id = `+communityOfStory+` AND user_id = $3`)
	sqlWallOfStory = stmt("walls.ofStory", wallOf(`(SELECT target_id FROM stories WHERE home = $1 AND stories.id = $2 AND target_type = 'user')`))

	sqlStoryInsert = stmt("stories.insert", `INSERT INTO stories (home, id, target_type, target_id, target_public_id, author_id, author_public_id,
		reference_id, data_type, data, items, metadata, mentionees, created_at, updated_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11::jsonb, $12::jsonb, $13::jsonb, $14, $14, $15)`)
	sqlStoryThere  = stmt("stories.guardThere", `SELECT 1 / count(*) FROM stories WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlStoryRow    = stmt("stories.guardRow", `SELECT 1 / count(*) FROM stories WHERE home = $1 AND id = $2`)
	sqlStoryLive   = stmt("stories.guardLive", `SELECT 1 / count(*) FROM stories WHERE home = $1 AND id = $2 AND deleted_at IS NULL AND expires_at > $3::timestamptz`)
	sqlStoryDelete = stmt("stories.delete", `UPDATE stories SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlStoryPurge  = stmt("stories.purge", `DELETE FROM stories WHERE home = $1 AND id = ANY($2::text[])`)
	sqlStoryDue    = stmt("stories.endedBefore", withLatestComments(storyColumns, `SELECT `+storyColumns+` FROM stories
		WHERE home = $1 AND expires_at < $2::timestamptz ORDER BY expires_at, id LIMIT $3::bigint`, ""))
	// A story that is deleted already was taken off the count then.
	sqlStoryUncount = stmt("stories.uncount", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $3, 0,
		-(SELECT count(*) FROM stories WHERE home = $1 AND id = $4 AND deleted_at IS NULL))
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`)
	sqlStoryTargetPut = stmt("storyTargets.put", `INSERT INTO story_targets (home, target_id, target_type, target_public_id, last_expires_at, updated_at)
		VALUES ($1, $2, $3, $4, `+sqlStoryExpiry+`, $5) ON CONFLICT (home, target_id)
		DO UPDATE SET target_public_id = excluded.target_public_id, last_expires_at = excluded.last_expires_at, updated_at = excluded.updated_at`)
)

// CountStories is the kind of the count of a target's stories: those that ended too, without deleted ones.
const CountStories CounterKind = "stories"

// Story reads one story; nil where there is none.
func (r *ReadBatch) Story(id string, into **Story) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlStoriesByID, scanOne(into, scanStory), []string{id})
	}
}

// StoriesByID reads stories of any homes; their order is not defined.
func (r *ReadBatch) StoriesByID(ids []string, into *[]Story) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]Story)
		r.add(home, sqlStoriesByID, scanAll(part, scanStory), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// StoryOfComment reads the story that a comment stands on; nil where it stands on something else.
func (r *ReadBatch) StoryOfComment(commentID string, into **Story) {
	if home, err := region.HomeOf(commentID); err == nil {
		r.add(home, sqlStoryOf, scanOne(into, scanStory), commentID)
	}
}

// CommunityOfStory reads the community that a story is in; nil where it is on a wall or not there.
func (r *ReadBatch) CommunityOfStory(storyID string, into **Community) {
	r.ofContent(storyID, sqlCommunityOfStory, scanOne(into, scanCommunity))
}

// MemberOfStory reads a user's membership of the community that a story is in; nil where there is none.
func (r *ReadBatch) MemberOfStory(storyID, userID string, into **Member) {
	r.ofContent(storyID, sqlMemberOfStory, scanOne(into, scanMember), userID)
}

// WallOfStory reads how a user stands to the owner of the wall that a story is on; for one of a community it means nothing.
func (r *ReadBatch) WallOfStory(storyID, userID string, into *Wall) {
	r.ofContent(storyID, sqlWallOfStory, scanWall(into), userID)
}

// StoriesEndedBefore reads up to limit stories of a home that ended before a time, deleted ones too, the first to end first.
func (r *ReadBatch) StoriesEndedBefore(home region.Code, before time.Time, limit int, into *[]Story) {
	r.add(home, sqlStoryDue, scanAll(into, scanStory), before, limit)
}

// InsertStory inserts a story and counts it; sent again after a lost connection it is stored once.
func (w *Tx) InsertStory(s Story) {
	w.once = "stories_pkey"
	w.exec(sqlStoryInsert, s.ID, s.TargetType, s.TargetID, s.TargetPublicID, s.AuthorID, s.AuthorPublicID, s.ReferenceID, s.DataType, s.Data, s.Items,
		s.Metadata, s.Mentionees, s.CreatedAt, s.ExpiresAt)
	w.Count(s.TargetID, CountStories, +1)
	w.storyTarget(s, s.CreatedAt)
}

// storyTarget makes the row of a story's target anew from the stories.
func (w *Tx) storyTarget(s Story, now time.Time) {
	w.exec(sqlStoryTargetPut, s.TargetID, s.TargetType, s.TargetPublicID, now)
}

// GuardStory refuses the transaction where the story is deleted.
func (w *Tx) GuardStory(id string, refusal error) { w.guard(sqlStoryThere, refusal, id) }

// GuardStoryRow refuses the transaction where nothing is left of the story: a deleted one is still a row.
func (w *Tx) GuardStoryRow(id string, refusal error) { w.guard(sqlStoryRow, refusal, id) }

// GuardLiveStory refuses the transaction where the story is deleted or ended.
func (w *Tx) GuardLiveStory(id string, now time.Time, refusal error) {
	w.guard(sqlStoryLive, refusal, id, now)
}

// DeleteStory marks a story deleted, and brings what counts it up to date. GuardStory goes before it.
func (w *Tx) DeleteStory(s Story, now time.Time) {
	w.exec(sqlStoryDelete, s.ID, now)
	w.Count(s.TargetID, CountStories, -1)
	w.storyTarget(s, now)
}

// PurgeStory removes a story for good, with what was counted of it. Its comments go before it.
func (w *Tx) PurgeStory(s Story, now time.Time) {
	ids := []string{s.ID}
	w.exec(sqlReactionPurge, ids)
	w.exec(sqlFlagsPurge, ids)
	w.exec(sqlViewsPurge, ids)
	w.exec(sqlCountersPurge, ids)
	w.exec(sqlStoryUncount, s.TargetID, string(CountStories), s.ID)
	w.exec(sqlStoryPurge, ids)
	w.storyTarget(s, now)
}

// SelectStory reads the story as it stands once the statements before it have run.
func (w *Tx) SelectStory(id string, into **Story) {
	w.query(sqlStoriesByID, scanOne(into, scanStory), []string{id})
}
