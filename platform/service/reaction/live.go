package reaction

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// liveEvery is the interval at which live reactions are sent.
const liveEvery = 250 * time.Millisecond

// liveGrace is how far the time of a live reaction may be from the server's; others get the server's time.
const liveGrace = time.Hour

var errSeveralPosts = fail.Validation("reactions: must be to one post")

// CreateLiveReactions sends reactions to the viewers of a post.
func (s *Service) CreateLiveReactions(
	ctx context.Context, m *plazav1.CreateLiveReactionsRequest,
) (*plazav1.CreateLiveReactionsResponse, error) {
	postID, err := s.livePost(ctx, m)
	if err != nil {
		return nil, err
	}
	l := s.newReferenceRequest(ctx, reference{id: postID, kind: content.ReferencePost})
	hidden := contact.ReadHidden(l.Request)
	l.Check(l.requireReact)
	l.AfterRun(func(ctx context.Context) error { return hidden.RequireAnswer(ctx, l.authorID()) })
	wanted := reactionsTo(m.GetReactions(), postID)
	names := service.Map(wanted, (*plazav1.NewLiveReaction).GetReactionName)
	textrules.Require(l.Request, s.HomeOf(postID), textrules.TextOfList(names...))
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	now := s.Now()
	added := s.live.add(s.HomeOf(postID), s.LiveReactionChange(*l.ref.Post),
		service.Map(wanted, func(r *plazav1.NewLiveReaction) events.LiveReaction {
			return events.LiveReaction{UserID: l.User().PublicID, Name: r.GetReactionName(), OccurredAt: occurred(r, now)}
		}))
	response := &plazav1.CreateLiveReactionsResponse{}
	for range added {
		response.AddedIds = append(response.AddedIds, s.NewID(s.HomeOf(postID)))
	}
	return response, nil
}

// occurred returns when a user reacted, or now if the client's clock is wrong.
func occurred(r *plazav1.NewLiveReaction, now time.Time) time.Time {
	at := r.GetOccurredAt().AsTime()
	if r.GetOccurredAt() == nil || at.Sub(now).Abs() > liveGrace {
		return now
	}
	return at.Truncate(time.Millisecond)
}

// livePost returns the id of the post of the room or stream, or of the post to which all reactions are.
func (s *Service) livePost(ctx context.Context, m *plazav1.CreateLiveReactionsRequest) (string, error) {
	if m.GetRoomId() == "" && m.GetLiveStreamId() == "" {
		postID := postOf(m.GetReactions()[0])
		if len(reactionsTo(m.GetReactions(), postID)) < len(m.GetReactions()) {
			return "", errSeveralPosts
		}
		return postID, nil
	}
	var room *media.Room
	var stream *media.VideoStream
	reads := s.Store.NewReadBatch()
	reads.Room(m.GetRoomId(), &room)
	reads.VideoStream(m.GetLiveStreamId(), &stream)
	switch err := reads.Run(ctx); {
	case err != nil:
		return "", err
	case room != nil && room.PostID != "":
		return room.PostID, nil
	case stream != nil && stream.PostID != "":
		return stream.PostID, nil
	}
	return "", fail.NotFound()
}

func postOf(r *plazav1.NewLiveReaction) string {
	if id := r.GetReferencePublicId(); id != "" {
		return id
	}
	return r.GetReferenceId()
}

// reactionsTo returns the reactions to a post.
func reactionsTo(all []*plazav1.NewLiveReaction, postID string) (found []*plazav1.NewLiveReaction) {
	for _, r := range all {
		if postOf(r) == postID {
			found = append(found, r)
		}
	}
	return found
}

// LiveJob returns the job that sends the live reactions that this server has received. It must run for every home.
// Reactions that a server has not sent when it stops are lost, as are those that could not be written.
func (s *Service) LiveJob() jobs.Job {
	return jobs.New("live reactions", liveEvery, s.Log, s.sendLive)
}

// sendLive writes one event for each post of a home with new live reactions.
func (s *Service) sendLive(ctx context.Context, home region.Code) (more bool, err error) {
	changes, more := s.live.take(home)
	if len(changes) == 0 {
		return false, nil
	}
	tx := s.Store.NewTx(home)
	rows := events.EmitChanges(tx, events.LiveReactionCreated, changes, make([]string, len(changes)), s.Now())
	return more, s.CommitSoon(ctx, tx, rows...)
}
