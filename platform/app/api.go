package app

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/apidoc"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/jobs"
	webpages "github.com/plaza-social/plaza/platform/linkpreview"
	"github.com/plaza-social/plaza/platform/realtime"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/analytics"
	"github.com/plaza-social/plaza/platform/service/audit"
	"github.com/plaza-social/plaza/platform/service/authentication"
	"github.com/plaza-social/plaza/platform/service/category"
	"github.com/plaza-social/plaza/platform/service/channel"
	"github.com/plaza-social/plaza/platform/service/comment"
	"github.com/plaza-social/plaza/platform/service/community"
	"github.com/plaza-social/plaza/platform/service/erasure"
	"github.com/plaza-social/plaza/platform/service/event"
	"github.com/plaza-social/plaza/platform/service/export"
	"github.com/plaza-social/plaza/platform/service/feed"
	"github.com/plaza-social/plaza/platform/service/file"
	"github.com/plaza-social/plaza/platform/service/flag"
	"github.com/plaza-social/plaza/platform/service/follow"
	"github.com/plaza-social/plaza/platform/service/invitation"
	"github.com/plaza-social/plaza/platform/service/joinrequest"
	"github.com/plaza-social/plaza/platform/service/linkpreview"
	"github.com/plaza-social/plaza/platform/service/marker"
	"github.com/plaza-social/plaza/platform/service/member"
	"github.com/plaza-social/plaza/platform/service/message"
	"github.com/plaza-social/plaza/platform/service/messagefeed"
	"github.com/plaza-social/plaza/platform/service/moderationlist"
	"github.com/plaza-social/plaza/platform/service/move"
	"github.com/plaza-social/plaza/platform/service/networksetting"
	"github.com/plaza-social/plaza/platform/service/notification"
	"github.com/plaza-social/plaza/platform/service/pin"
	"github.com/plaza-social/plaza/platform/service/poll"
	"github.com/plaza-social/plaza/platform/service/post"
	"github.com/plaza-social/plaza/platform/service/presence"
	"github.com/plaza-social/plaza/platform/service/product"
	"github.com/plaza-social/plaza/platform/service/reaction"
	"github.com/plaza-social/plaza/platform/service/retention"
	"github.com/plaza-social/plaza/platform/service/role"
	"github.com/plaza-social/plaza/platform/service/room"
	"github.com/plaza-social/plaza/platform/service/scheduledpost"
	"github.com/plaza-social/plaza/platform/service/search"
	"github.com/plaza-social/plaza/platform/service/session"
	"github.com/plaza-social/plaza/platform/service/story"
	"github.com/plaza-social/plaza/platform/service/user"
	"github.com/plaza-social/plaza/platform/service/videostreaming"
	"github.com/plaza-social/plaza/platform/view"
)

// newAPI returns the handler of all services and protocols, and the background workers.
func newAPI(d *dependencies) (http.Handler, []worker, error) {
	shared := d.shared()
	if err := errors.Join(d.openPush(shared), shared.Outbox.Register(d.metrics.Registerer())); err != nil {
		return nil, nil, err
	}
	registerOutbox(shared)
	limits, limitWorkers := d.rateLimits(shared)
	d.realtime = realtime.New(realtime.Options{
		Deps: shared, Issuer: d.issuer, Limits: limits, Marshal: edge.MarshalJSON, Registerer: d.metrics.Registerer(),
	})
	roles := role.New(shared)
	files, err := d.files(shared)
	if err != nil {
		return nil, nil, err
	}
	pages, err := apidoc.New()
	if err != nil {
		return nil, nil, err
	}
	recorder := audit.NewRecorder(shared, d.client)
	audits := audit.New(shared, recorder)
	exports := export.New(shared, d.storage)
	moves, err := move.New(shared, move.Options{Storage: d.storage, Settle: d.moveSettle(), Limits: d.limits, Registerer: d.metrics.Registerer()})
	if err != nil {
		return nil, nil, err
	}
	services, filler := d.services(shared, roles, files, exports, moves, audits), fileFiller(shared)
	presences, reactions := presence.New(shared), reaction.New(shared)
	hooks, err := d.webhooks(shared)
	if err != nil {
		return nil, nil, err
	}
	services.Presence, services.Reaction, services.Webhook, services.Prehook = presences, reactions, hooks.service, hooks.settings
	once := d.idempotency(shared, recoveries(shared, services), filler, hooks.sealer, limits)
	kept, err := retention.New(shared, d.metrics.Registerer(), retention.Kinds(shared, d.issuer.AccessLifetime(), post.New(shared).Purge, story.New(shared).PurgeByID)...)
	if err != nil {
		return nil, nil, err
	}
	handler, err := edge.New(edge.Options{
		Services:       services,
		Interceptors:   d.interceptors(once, recorder, filler),
		Prehook:        hooks.prehook.Ask,
		Log:            d.log,
		LogOneIn:       int64(d.cfg.AccessLog),
		MaxBodyBytes:   int64(d.cfg.MaxBodyBytes),
		ResponseMemory: int64(d.cfg.ResponseMemory),
		RequestTimeout: d.cfg.RequestTimeout.Std(),
		WriteTimeout:   d.limits.WriteResponse,
		Ready:          d.ready,
		Registerer:     d.metrics.Registerer(),
		Counts:         d.counts,
		Tracer:         d.tracing.Tracer(),
		CORSOrigins:    d.cfg.CORSOrigins.List(),
		TLS:            d.cfg.UsesTLS(),
		RateLimits:     limits,
		Streams: slices.Concat(d.fileStreams(files, limits, recorder, once), d.exportStreams(exports, limits), recordingStreams(shared, limits),
			[]edge.Stream{(&edge.AuditStream{Audit: audits, RateLimits: limits}).Stream()}),
		Realtime: d.realtime, Pages: pages,
	})
	if err != nil {
		return nil, nil, err
	}
	pushes, err := notification.NewSender(shared, d.metrics.Registerer())
	if err != nil {
		return nil, nil, err
	}
	d.background = d.jobs(shared, roles, files)
	d.background.server = append(d.background.server, moves.MetricsJob())
	d.background.home = allAwaited(d.store.Routes(), append(d.background.home, exports.Job(), kept.Job(), presences.SweepJob(),
		hooks.dispatcher.Job(), hooks.dispatcher.SweepJob(), pushes.Job()))
	d.background.home = append(d.background.home, erasure.New(shared).Job(), moves.Job()) // which wait themselves
	return handler, slices.Concat(d.workers(), limitWorkers, homeWorkers(presences.StoreJob(), reactions.LiveJob()), []worker{hooks.releaseWorker()}), nil
}

// services returns the implementations of the API.
func (d *dependencies) services(shared *service.Deps, roles *role.Service, files *file.Service, exports *export.Service, moves *move.Service, audits *audit.Service) edge.Services {
	return edge.Services{
		Authentication: authentication.New(d.issuer),
		Session:        session.New(shared, d.issuer, d.serverKeys),
		User:           user.New(shared),
		Role:           roles,
		Category:       category.New(shared),
		Product:        product.New(shared),
		NetworkSetting: networksetting.New(shared),
		Community:      community.New(shared),
		Member:         member.New(shared),
		JoinRequest:    joinrequest.New(shared),
		Invitation:     invitation.New(shared),
		Post:           post.New(shared),
		Comment:        comment.New(shared),
		Feed:           feed.New(shared),
		Follow:         follow.New(shared),
		Pin:            pin.New(shared),
		ScheduledPost:  scheduledpost.New(shared),
		Poll:           poll.New(shared),
		VideoStreaming: videostreaming.New(shared),
		Room:           room.New(shared),
		Event:          event.New(shared),
		File:           files,
		Marker:         marker.New(shared),
		MessageFeed:    messagefeed.New(shared),
		Message:        message.New(shared),
		Story:          story.New(shared),
		Analytics:      analytics.New(shared),
		Channel:        channel.New(shared, marker.New(shared)),
		ChannelUser:    channel.New(shared, marker.New(shared)),
		ModerationList: moderationlist.New(shared),
		Erasure:        erasure.New(shared),
		Export:         exports,
		Move:           moves,
		Flag:           flag.New(shared),
		Audit:          audits,
		Search:         search.New(shared),
		Notification:   notification.New(shared),
		LinkPreview:    linkpreview.New(shared, d.linkPreviews()),
	}
}

// linkPreviews returns the fetcher of link previews.
func (d *dependencies) linkPreviews() *webpages.Fetcher {
	return webpages.New(d.cfg.LinkPreviewNetworks, nil, d.millis, d.limits.FetchPage)
}

// interceptors returns the interceptors of every operation, the outermost first.
func (d *dependencies) interceptors(once *idempotency, recorder *audit.Recorder, filler connect.Interceptor) []connect.Interceptor {
	return []connect.Interceptor{
		awaitedRequests(d.store.Routes()),
		auth.NewInterceptor(d.issuer, d.serverKeys, d.apiKeys, auth.WithMediaKey(d.cfg.MediaKey.Reveal()), auth.WithEvacuation(d.evacuation)),
		connect.UnaryInterceptorFunc(once.intercept), connect.UnaryInterceptorFunc(newMoving(d.store).intercept), recorder.Interceptor(), filler,
	}
}

// client returns the client of a request for the audit.
func (d *dependencies) client(ctx context.Context) audit.Client {
	return audit.Client(edge.ClientOf(ctx, d.cfg.TrustedProxies))
}

// registerOutbox registers the outbox handlers of the services that have some, except those of New functions.
func registerOutbox(shared *service.Deps) {
	member.Register(shared)
	follow.Register(shared)
	marker.Register(shared)
	channel.Register(shared, marker.New(shared))
	messagefeed.Register(shared)
	session.Register(shared)
	post.Register(shared)
	room.Register(shared)
	notification.Register(shared)
}

// shared returns the dependencies that all services share.
func (d *dependencies) shared() *service.Deps {
	key := []byte(d.cfg.DirectoryKey.Reveal())
	media := view.Media{IngestURL: string(d.cfg.MediaIngestURL), PlaybackURL: string(d.cfg.MediaPlaybackURL)}
	return &service.Deps{
		Store:     d.store,
		View:      &view.Builder{NetworkID: string(d.cfg.NetworkID), Now: d.millis, Media: media, Catalog: &auth.Catalog{}},
		Directory: directory.New(d.store, d.cfg.Region, key, d.millis, d.log),
		Outbox:    events.NewOutbox(d.store, d.millis, d.log),
		Region:    d.cfg.Region,
		NetworkID: string(d.cfg.NetworkID),
		Now:       d.millis,
		NewID:     region.NewID,
		Log:       d.log,
		Quotas:    d.quotas(),

		RankingAge: time.Duration(d.cfg.RankingAge),
	}
}

// jobs returns the background jobs.
func (d *dependencies) jobs(shared *service.Deps, roles *role.Service, files *file.Service) background {
	home := []jobs.Job{
		shared.Outbox.Job(), scheduledpost.New(shared).Job(), story.New(shared).Job(), notification.New(shared).Job(),
		d.sweepSessions(shared), d.sweepDailyUsages(shared),
		d.sweepIdempotency(shared),
	}
	return background{server: []jobs.Job{roles.Job()}, home: home, files: []jobs.Job{files.Sweep(), files.ReleaseJob()}}
}

func (d *dependencies) workers() []worker {
	realtime := worker{name: "realtime", run: func(ctx context.Context) error { d.realtime.Run(ctx); return nil }}
	evacuated := &evacuatedHomes{regions: d.evacuation.Regions, jobs: func(home region.Code) []jobs.Job {
		return d.background.ofHome(home, d.storage)
	}, log: d.log}
	return append(d.jobWorkers(d.background.of(d.cfg.Region, d.storage)), realtime, worker{name: "evacuated regions", run: evacuated.run})
}

func (d *dependencies) jobWorkers(all []jobs.Job) []worker {
	workers := make([]worker, 0, len(all))
	for _, job := range all {
		workers = append(workers, worker{name: job.Name, run: func(ctx context.Context) error {
			job.Run(ctx, d.cfg.Region)
			return nil
		}})
	}
	return workers
}

// homeWorkers run jobs for every home, such as the one that stores the heartbeats that this server has received.
func homeWorkers(all ...jobs.Job) []worker {
	var workers []worker
	for _, job := range all {
		for _, home := range region.All() {
			workers = append(workers, worker{name: job.Name + " of " + home.String(), run: func(ctx context.Context) error {
				job.Run(ctx, home)
				return nil
			}})
		}
	}
	return workers
}

// sweepEvery is the interval at which expired rows, such as sessions, are removed.
const sweepEvery = 10 * time.Minute

// sweepSessions returns the job that removes expired sessions of this region's users.
func (d *dependencies) sweepSessions(shared *service.Deps) jobs.Job {
	return jobs.Job{Name: "session sweep", Lanes: 1, Every: sweepEvery, Log: d.log, Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
		var deleted int64
		w := shared.Store.NewTx(home)
		w.SweepSessions(shared.Now(), &deleted)
		err := w.Commit(ctx)
		return deleted > 0, err
	}}
}
