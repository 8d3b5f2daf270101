package app

import (
	"context"
	"errors"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/apidoc"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/analytics"
	"github.com/plaza-social/plaza/platform/service/authentication"
	"github.com/plaza-social/plaza/platform/service/category"
	"github.com/plaza-social/plaza/platform/service/channel"
	"github.com/plaza-social/plaza/platform/service/comment"
	"github.com/plaza-social/plaza/platform/service/community"
	"github.com/plaza-social/plaza/platform/service/feed"
	"github.com/plaza-social/plaza/platform/service/follow"
	"github.com/plaza-social/plaza/platform/service/invitation"
	"github.com/plaza-social/plaza/platform/service/joinrequest"
	"github.com/plaza-social/plaza/platform/service/marker"
	"github.com/plaza-social/plaza/platform/service/member"
	"github.com/plaza-social/plaza/platform/service/message"
	"github.com/plaza-social/plaza/platform/service/messagefeed"
	"github.com/plaza-social/plaza/platform/service/moderationlist"
	"github.com/plaza-social/plaza/platform/service/pin"
	"github.com/plaza-social/plaza/platform/service/poll"
	"github.com/plaza-social/plaza/platform/service/post"
	"github.com/plaza-social/plaza/platform/service/reaction"
	"github.com/plaza-social/plaza/platform/service/role"
	"github.com/plaza-social/plaza/platform/service/room"
	"github.com/plaza-social/plaza/platform/service/schedule"
	"github.com/plaza-social/plaza/platform/service/session"
	"github.com/plaza-social/plaza/platform/service/setting"
	"github.com/plaza-social/plaza/platform/service/story"
	"github.com/plaza-social/plaza/platform/service/user"
	"github.com/plaza-social/plaza/platform/service/videostream"
	"github.com/plaza-social/plaza/platform/view"
)

// newAPI builds the services and the handler of all their protocols, and the workers that serve them in the background.
func newAPI(d *dependencies) (http.Handler, []worker, error) {
	shared := d.shared()
	member.Register(shared)
	follow.Register(shared)
	marker.Register(shared)
	channel.Register(shared, marker.New(shared))
	messagefeed.Register(shared)
	session.Register(shared)
	if err := d.openRealtime(shared); err != nil {
		return nil, nil, err
	}
	post.Register(shared)
	roles := role.New(shared)
	files, err := d.files(shared)
	if err != nil {
		return nil, nil, err
	}
	pages, err := apidoc.New()
	if err != nil {
		return nil, nil, err
	}
	handler, err := edge.New(edge.Options{
		Services: edge.Services{
			Authentication: authentication.New(d.issuer),
			Session:        session.New(shared, d.issuer),
			User:           user.New(shared),
			Role:           roles,
			Category:       category.New(shared),
			NetworkSetting: setting.New(shared),
			Community:      community.New(shared),
			Member:         member.New(shared),
			JoinRequest:    joinrequest.New(shared),
			Invitation:     invitation.New(shared),
			Post:           post.New(shared),
			Comment:        comment.New(shared),
			Feed:           feed.New(shared),
			Reaction:       reaction.New(shared),
			Follow:         follow.New(shared),
			Pin:            pin.New(shared),
			ScheduledPost:  schedule.New(shared),
			Poll:           poll.New(shared),
			VideoStreaming: videostream.New(shared),
			Room:           room.New(shared),
			File:           files,
			Marker:         marker.New(shared),
			MessageFeed:    messagefeed.New(shared),
			Message:        message.New(shared),
			Story:          story.New(shared),
			Analytics:      analytics.New(shared),
			Channel:        channel.New(shared, marker.New(shared)),
			ChannelUser:    channel.New(shared, marker.New(shared)),
			ModerationList: moderationlist.New(shared),
		},
		Interceptors: []connect.Interceptor{
			auth.NewInterceptor(d.issuer, d.serverKeys, d.apiKeys, auth.WithMediaKey(d.cfg.MediaKey.Reveal())), files.Filler(),
		},
		Log:            d.log,
		MaxBodyBytes:   int64(d.cfg.MaxBodyBytes),
		RequestTimeout: d.cfg.RequestTimeout.Std(),
		Ready:          d.ready,
		Registerer:     d.metrics.Registerer(),
		CORSOrigins:    d.cfg.CORSOrigins.List(),
		Streams:        d.fileStreams(files),
		Realtime:       d.realtime,
		Pages:          pages,
	})
	if err != nil {
		return nil, nil, err
	}
	workers := append(d.workers(shared, roles), d.fileWorkers(files)...)
	return handler, append(workers, d.realtimeWorkers(shared)...), nil
}

// shared is what every noun's service is made of.
func (d *dependencies) shared() *service.Deps {
	key := []byte(d.cfg.DirectoryKey.Reveal())
	return &service.Deps{
		Store:     d.store,
		View:      &view.Builder{NetworkID: string(d.cfg.NetworkID), Now: service.Millis, Media: d.media(), Catalog: &auth.Catalog{}},
		Directory: directory.New(d.store, d.cfg.Region, key, service.Millis, d.log),
		Outbox:    events.NewOutbox(d.store, service.Millis, d.log),
		Region:    d.cfg.Region,
		NetworkID: string(d.cfg.NetworkID),
		Now:       service.Millis,
		NewID:     region.NewID,
		Log:       d.log,
	}
}

// media is where the network's media server is.
func (d *dependencies) media() view.Media {
	return view.Media{IngestURL: string(d.cfg.MediaIngestURL), PlaybackURL: string(d.cfg.MediaPlaybackURL)}
}

// followRolesEvery is the time between two looks at the roles that administrators made.
const followRolesEvery = 500 * time.Millisecond

// sweepEvery is the time between two sweeps of sessions that have ended.
const sweepEvery = 10 * time.Minute

func (d *dependencies) workers(shared *service.Deps, roles *role.Service) []worker {
	return []worker{
		{name: "roles", run: func(ctx context.Context) error { roles.Follow(ctx, followRolesEvery); return nil }},
		{name: "outbox", run: func(ctx context.Context) error {
			shared.Outbox.Run(ctx, d.cfg.Region)
			return nil
		}},
		{name: "scheduled posts", run: func(ctx context.Context) error {
			schedule.New(shared).Job().Run(ctx, d.cfg.Region)
			return nil
		}},
		{name: "ended stories", run: func(ctx context.Context) error {
			story.New(shared).Job().Run(ctx, d.cfg.Region)
			return nil
		}},
		{name: "session sweep", run: func(ctx context.Context) error { return d.sweepSessions(ctx, shared) }},
	}
}

// sweepSessions removes sessions of this region's users whose tokens have ended, some hundred at a time.
func (d *dependencies) sweepSessions(ctx context.Context, shared *service.Deps) error {
	for {
		w := shared.Store.NewTx(d.cfg.Region)
		w.SweepSessions(shared.Now())
		if err := w.Commit(ctx); err != nil && !errors.Is(err, context.Canceled) {
			d.log.WarnContext(ctx, "ended sessions not swept", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sweepEvery):
		}
	}
}
