package scheduledpost

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Job returns the background job that publishes posts when they are due. Each post is published in one transaction that succeeds
// only while the post waits. So it is published once, however many workers share its lane and whenever one fails.
func (s *Service) Job() jobs.Job {
	return jobs.Job{Name: "scheduled posts", Lanes: content.ScheduleLanes, Every: pollEvery, Poll: s.poll, Log: s.Log}
}

const (
	pollEvery = time.Second // how late a post may be published
	batch     = 100         // posts of a lane that are read at a time
	maxTries  = 20          // of one post; with the pauses between them, a quarter of an hour
)

// errClaimed reports that another worker published the post, or that it was changed or cancelled in the meantime.
var errClaimed = errors.New("the scheduled post is not waiting any more")

// errHomeUnavailable reports that the home of the author or of the target does not answer. The post waits until it
// does.
var errHomeUnavailable = errors.New("the home of the author or of the target does not answer")

// errMoving reports that the author or the target of a post is moving to another home. The post waits until the move has ended.
var errMoving = errors.New("the author or the target is moving to another home")

// poll reads the posts that are due in some lanes of a home.
func (s *Service) poll(ctx context.Context, home region.Code, lanes []int64) (map[int64]jobs.Work, error) {
	now := s.Now()
	var due map[int64][]content.ScheduledPost
	reads := s.Store.NewReadBatch()
	reads.ScheduledPostsDue(home, lanes, s.polls.After(home, lanes), now, batch, &due)
	if err := reads.Run(ctx); err != nil {
		s.polls.Failed(home, lanes)
		return nil, err
	}
	return jobs.Polled(&s.polls, home, now, lanes, due, batch, func(ctx context.Context, posts []content.ScheduledPost) (bool, error) {
		return true, s.publishAll(ctx, home, posts)
	}), nil
}

// publishAll publishes due posts of a home. Its error concerns the home, not a post.
func (s *Service) publishAll(ctx context.Context, home region.Code, due []content.ScheduledPost) error {
	// Workers of the same lane use different orders, so that they rarely conflict.
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	facts, err := s.factsOf(ctx, home, due)
	if errors.Is(err, errMoving) && len(due) > 1 { // posts of others do not wait
		for i := range due {
			if err := s.publishAll(ctx, home, due[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	if errors.Is(err, errMoving) {
		return s.delay(ctx, due[0], err)
	}
	if err != nil {
		return err
	}
	for _, row := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.publish(ctx, row, facts); err != nil {
			return err
		}
	}
	return nil
}

// publish publishes one post, or marks it as failed. Its error concerns the home, not the post.
func (s *Service) publish(ctx context.Context, row content.ScheduledPost, facts *facts) error {
	err := s.tryPublish(ctx, row, facts)
	var refused *fail.Error
	switch {
	case err == nil, errors.Is(err, errClaimed):
		return nil
	case errors.As(err, &refused) && refused.Kind == fail.KindUnavailable:
		return err
	case errors.As(err, &refused) && refused.Code != fail.CodeUnexpected:
		return s.settleFailed(ctx, row, reason(refused))
	case row.Attempts+1 >= maxTries && !errors.Is(err, errHomeUnavailable):
		s.Log.ErrorContext(ctx, "scheduled post failed for good", "id", row.ID, "error", err)
		return s.settleFailed(ctx, row, "It could not be published")
	}
	return s.delay(ctx, row, err)
}

// delay leaves a post for later.
func (s *Service) delay(ctx context.Context, row content.ScheduledPost, cause error) error {
	s.Log.WarnContext(ctx, "scheduled post not published", "id", row.ID, "attempts", row.Attempts+1, "error", cause)
	tx := s.Store.NewTx(s.HomeOf(row.ID))
	tx.DelayScheduledPost(row, s.Now().Add(min(time.Second<<min(row.Attempts, 6), time.Minute)))
	return tx.Commit(ctx)
}

func (s *Service) tryPublish(ctx context.Context, row content.ScheduledPost, facts *facts) error {
	author, err := facts.posting(ctx, row)
	if err != nil {
		return err
	}
	d, err := s.draftOf(row)
	if err != nil {
		return err
	}
	d.PostID = row.PostIDs[0]
	embed, err := s.requireEmbed(ctx, d, author)
	if err != nil {
		return err
	}
	if err := facts.rules.Require(ctx, author.Caller, d.Text(), embed.Text()); err != nil {
		return err
	}
	tx := s.Store.NewTx(s.HomeOf(row.ID))
	tx.ResolveScheduledPost(row, content.SchedulePosted, "Published", s.Now(), errClaimed)
	posts := rowsOf(row, d, author, s.Now())
	posting.InsertPosts(tx, posts, d)
	if err := posting.Reserve(ctx, s.Deps, posts[0], d); err != nil {
		return err
	}
	return s.CommitChange(auth.WithCaller(ctx, author.Caller), tx, "post.created", s.PostChange(posts[0]))
}

// requireEmbed reads what a draft embeds, and refuses a poll, stream or room that is part of another post or does not
// exist.
func (s *Service) requireEmbed(ctx context.Context, d *posting.Draft, author *posting.PostContext) (posting.Embed, error) {
	var embed posting.Embed
	reads := s.Store.NewReadBatch()
	embed.Read(d, reads)
	if err := reads.Run(ctx); err != nil {
		return embed, err
	}
	return embed, author.RequireEmbed(d, embed)
}

func (s *Service) settleFailed(ctx context.Context, row content.ScheduledPost, description string) error {
	tx := s.Store.NewTx(s.HomeOf(row.ID))
	tx.ResolveScheduledPost(row, content.ScheduleFailed, description, s.Now(), errClaimed)
	if err := tx.Commit(ctx); err != nil && !errors.Is(err, errClaimed) {
		return err
	}
	return nil
}

// reason returns why a post was refused, for its author.
func reason(refused *fail.Error) string {
	switch refused.Code {
	case fail.CodeNotFound:
		return "The community or user that it was for is gone, or not for its author to see"
	case fail.CodeUnauthorized:
		return "Its author is gone"
	}
	return refused.Message
}

// facts are the rows by which a batch of due posts is decided.
type facts struct {
	users   []people.User                 // authors and wall owners
	targets map[string]*visibility.Target // by target and author
	rules   *textrules.Rules
	missing []region.Code
	deps    *service.Deps
}

// factsOf reads, in one round trip to each home, the authors and their relations to the targets.
func (s *Service) factsOf(ctx context.Context, home region.Code, due []content.ScheduledPost) (*facts, error) {
	var users []string
	f := &facts{targets: map[string]*visibility.Target{}, deps: s.Deps}
	reads := s.Store.NewBestEffortBatch()
	f.rules = textrules.Read(s.Deps, reads, home)
	for _, row := range due {
		users = append(users, row.AuthorID)
		if row.TargetType == "user" {
			users = append(users, row.TargetID)
		}
		if pair := row.TargetID + row.AuthorID; f.targets[pair] == nil {
			f.targets[pair] = &visibility.Target{}
			asAuthor := &service.Request{ReadBatch: reads, Deps: s.Deps, Caller: f.author(row)}
			visibility.ReadTarget(asAuthor, row.TargetType, row.TargetID, f.targets[pair])
		}
	}
	reads.Users(service.SortedSet(users), &f.users)
	err := reads.Run(ctx)
	f.missing = reads.Missing()
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(f.missing, home):
		return nil, errHomeUnavailable // nothing is published without the text rules
	case reads.Incomplete():
		return nil, errMoving
	}
	return f, nil
}

// author returns the author of a post as a caller.
func (f *facts) author(row content.ScheduledPost) *auth.Caller {
	return &auth.Caller{Kind: auth.User, UserID: row.AuthorID, PublicID: row.AuthorPublicID, Home: f.deps.HomeOf(row.AuthorID)}
}

// posting returns the context in which a post is published. Its caller is the author, confirmed by the author's
// current row.
func (f *facts) posting(ctx context.Context, row content.ScheduledPost) (*posting.PostContext, error) {
	for _, home := range f.missing {
		if home == f.deps.HomeOf(row.AuthorID) || home == f.deps.HomeOf(row.TargetID) {
			return nil, errHomeUnavailable
		}
	}
	caller := f.author(row)
	if err := auth.Confirm(auth.WithCaller(ctx, caller), f.deps.FactsOf(service.UserByID(f.users, row.AuthorID))); err != nil {
		return nil, err
	}
	if row.TargetType == "user" {
		if owner := service.UserByID(f.users, row.TargetID); owner == nil || owner.DeletedAt != nil {
			return nil, fail.NotFound()
		}
	}
	p := &posting.PostContext{
		Caller: caller, AuthorID: row.AuthorID, AuthorPublicID: row.AuthorPublicID, TargetPublicID: row.TargetPublicID,
		Target: *f.targets[row.TargetID+row.AuthorID],
	}
	return p, p.RequirePost()
}
