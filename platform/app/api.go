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
	"github.com/plaza-social/plaza/platform/edge/realtime"
	"github.com/plaza-social/plaza/platform/edge/transfer"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/idempotency"
	"github.com/plaza-social/plaza/platform/jobs"
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
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	webpages "github.com/plaza-social/plaza/platform/webpage"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// api is the API of a region: the parts of its services that do more than answer requests.
type api struct {
	*dependencies
	shared   *service.Deps
	rates    *edge.RateLimits
	realtime *realtime.Hub
	recorder *audit.Recorder
	hooks    *hooks
	once     *idempotency.Executor

	roles     *role.Service
	files     *file.Service
	audits    *audit.Service
	exports   *export.Service
	moves     *move.Service
	presences *presence.Service
	reactions *reaction.Service
	retention *retention.Service
	pushes    *notification.Sender

	handler    http.Handler // of all services and protocols
	workers    []worker
	background background
}

// newAPI builds the services and the handler in front of them.
func newAPI(d *dependencies) (*api, error) {
	key := []byte(d.cfg.DirectoryKey.Reveal())
	links, err := file.NewLinks(d.publicURL, string(d.cfg.NetworkID), key, d.signing, d.cfg.FileURLTTL.Std(), d.millis)
	if err != nil {
		return nil, err
	}
	shared, registerer := d.shared(links), d.metrics.Registerer()
	registerOutbox(shared)
	limits, limitWorkers := d.rateLimits(shared)
	recorder := audit.NewRecorder(shared, d.client)
	a := &api{
		dependencies: d, shared: shared, rates: limits, recorder: recorder, workers: limitWorkers,
		realtime: realtime.New(realtime.Options{
			Deps: shared, Issuer: d.issuer, Limits: limits, Marshal: edge.MarshalJSON, Registerer: registerer,
		}),
		roles: role.New(shared), files: d.files(shared, links), audits: audit.New(shared, recorder), exports: export.New(shared, d.storage),
		presences: presence.New(shared), reactions: reaction.New(shared),
	}
	a.moves = move.New(shared, move.Options{Storage: d.storage, Settle: d.moveSettle(), Limits: d.limits, Registerer: registerer})
	a.retention = retention.New(shared, registerer,
		retention.Kinds(shared, d.issuer.AccessLifetime(), post.New(shared).Purge, story.New(shared).PurgeByID)...)
	var errs [3]error
	a.hooks, errs[0] = newHooks(d, shared, a.realtime)
	a.pushes, errs[1] = notification.NewSender(shared, registerer)
	errs[2] = shared.Outbox.Register(registerer)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if err := a.serve(); err != nil {
		return nil, err
	}
	a.background = a.jobs()
	a.workers = slices.Concat(a.workers, d.jobWorkers(a.background.of(d.cfg.Region, d.storage)), a.serverWorkers())
	return a, nil
}

// serve sets the handler of all services and protocols.
func (a *api) serve() error {
	filler, services := file.NewFiller(a.shared), a.services()
	var err error
	a.once, err = idempotency.New(a.shared, idempotency.Options{
		Secret: []byte(a.cfg.DirectoryKey.Reveal()), Lock: 2*a.cfg.RequestTimeout.Std() + time.Second, Services: services.Implementations(),
		Recoveries: recoveries(a.roles, a.files, invitation.New(a.shared)), Fill: filler, Sealer: a.hooks.sealer,
		MayStore: a.rates.MayStoreAnswer,
	})
	if err != nil {
		return err
	}
	pages, err := apidoc.New()
	if err != nil {
		return err
	}
	a.handler, err = edge.New(edge.Options{
		Services:       services,
		Interceptors:   a.interceptors(filler),
		Prehook:        a.hooks.prehook.Ask,
		Log:            a.log,
		LogOneIn:       int64(a.cfg.AccessLog),
		MaxBodyBytes:   int64(a.cfg.MaxBodyBytes),
		ResponseMemory: int64(a.cfg.ResponseMemory),
		RequestTimeout: a.cfg.RequestTimeout.Std(),
		WriteTimeout:   a.limits.WriteResponse,
		Ready:          a.ready,
		Registerer:     a.metrics.Registerer(),
		Counts:         a.counts,
		Tracer:         a.tracing.Tracer(),
		CORSOrigins:    a.cfg.CORSOrigins.List(),
		TLS:            a.cfg.UsesTLS(),
		RateLimits:     a.rates,
		Streams:        a.streams(),
		Realtime:       a.realtime,
		Pages:          pages,
	})
	return err
}

// services returns the implementations of the API.
func (a *api) services() edge.Services {
	shared := a.shared
	channels := channel.New(shared, marker.New(shared))
	pages := webpages.New(a.cfg.LinkPreviewNetworks, nil, a.millis, a.limits.FetchPage)
	return edge.Services{
		edge.Implement(plazav1connect.NewAuthenticationServiceHandler)(authentication.New(a.issuer)),
		edge.Implement(plazav1connect.NewSessionServiceHandler)(session.New(shared, a.issuer, a.serverKeys)),
		edge.Implement(plazav1connect.NewUserServiceHandler)(user.New(shared)),
		edge.Implement(plazav1connect.NewRoleServiceHandler)(a.roles),
		edge.Implement(plazav1connect.NewCategoryServiceHandler)(category.New(shared)),
		edge.Implement(plazav1connect.NewProductServiceHandler)(product.New(shared)),
		edge.Implement(plazav1connect.NewNetworkSettingServiceHandler)(networksetting.New(shared)),
		edge.Implement(plazav1connect.NewCommunityServiceHandler)(community.New(shared)),
		edge.Implement(plazav1connect.NewMemberServiceHandler)(member.New(shared)),
		edge.Implement(plazav1connect.NewJoinRequestServiceHandler)(joinrequest.New(shared)),
		edge.Implement(plazav1connect.NewInvitationServiceHandler)(invitation.New(shared)),
		edge.Implement(plazav1connect.NewPostServiceHandler)(post.New(shared)),
		edge.Implement(plazav1connect.NewCommentServiceHandler)(comment.New(shared)),
		edge.Implement(plazav1connect.NewFeedServiceHandler)(feed.New(shared)),
		edge.Implement(plazav1connect.NewFollowServiceHandler)(follow.New(shared)),
		edge.Implement(plazav1connect.NewPinServiceHandler)(pin.New(shared)),
		edge.Implement(plazav1connect.NewScheduledPostServiceHandler)(scheduledpost.New(shared)),
		edge.Implement(plazav1connect.NewPollServiceHandler)(poll.New(shared)),
		edge.Implement(plazav1connect.NewVideoStreamingServiceHandler)(videostreaming.New(shared)),
		edge.Implement(plazav1connect.NewRoomServiceHandler)(room.New(shared)),
		edge.Implement(plazav1connect.NewEventServiceHandler)(event.New(shared)),
		edge.Implement(plazav1connect.NewFileServiceHandler)(a.files),
		edge.Implement(plazav1connect.NewMarkerServiceHandler)(marker.New(shared)),
		edge.Implement(plazav1connect.NewMessageFeedServiceHandler)(messagefeed.New(shared)),
		edge.Implement(plazav1connect.NewMessageServiceHandler)(message.New(shared)),
		edge.Implement(plazav1connect.NewStoryServiceHandler)(story.New(shared)),
		edge.Implement(plazav1connect.NewAnalyticsServiceHandler)(analytics.New(shared)),
		edge.Implement(plazav1connect.NewChannelServiceHandler)(channels),
		edge.Implement(plazav1connect.NewChannelUserServiceHandler)(channels),
		edge.Implement(plazav1connect.NewModerationListServiceHandler)(moderationlist.New(shared)),
		edge.Implement(plazav1connect.NewErasureServiceHandler)(erasure.New(shared)),
		edge.Implement(plazav1connect.NewExportServiceHandler)(a.exports),
		edge.Implement(plazav1connect.NewMoveServiceHandler)(a.moves),
		edge.Implement(plazav1connect.NewFlagServiceHandler)(flag.New(shared)),
		edge.Implement(plazav1connect.NewAuditServiceHandler)(a.audits),
		edge.Implement(plazav1connect.NewSearchServiceHandler)(search.New(shared)),
		edge.Implement(plazav1connect.NewNotificationServiceHandler)(notification.New(shared)),
		edge.Implement(plazav1connect.NewLinkPreviewServiceHandler)(linkpreview.New(shared, pages)),
		edge.Implement(plazav1connect.NewPresenceServiceHandler)(a.presences),
		edge.Implement(plazav1connect.NewReactionServiceHandler)(a.reactions),
		edge.Implement(plazav1connect.NewWebhookServiceHandler)(a.hooks.service),
		edge.Implement(plazav1connect.NewPrehookServiceHandler)(a.hooks.settings),
	}
}

// streams returns the operations in addition to those of the services.
func (a *api) streams() []edge.Stream {
	files := transfer.Files{Files: a.files, Log: a.log, RateLimits: a.rates, Record: a.recorder.Record, Once: a.once.Upload}
	exports := transfer.Exports{Exports: a.exports, Log: a.log, RateLimits: a.rates}
	recordings := transfer.Recordings{Rooms: room.New(a.shared), RateLimits: a.rates}
	audits := transfer.Audits{Audit: a.audits, RateLimits: a.rates}
	return slices.Concat(files.Streams(), exports.Streams(), recordings.Streams(), []edge.Stream{audits.Stream()})
}

// interceptors returns the interceptors of every operation, the outermost first.
func (a *api) interceptors(filler connect.Interceptor) []connect.Interceptor {
	return []connect.Interceptor{
		awaitedRequests(a.store.Routes()),
		auth.NewInterceptor(a.issuer, a.serverKeys, a.apiKeys, auth.WithMediaKey(a.cfg.MediaKey.Reveal()), auth.WithEvacuation(a.evacuation)),
		connect.UnaryInterceptorFunc(a.once.Intercept), connect.UnaryInterceptorFunc(newMoving(a.store).intercept),
		a.recorder.Interceptor(), filler,
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
	post.Register(shared)
	room.Register(shared)
	notification.Register(shared)
}

// shared returns the dependencies that all services share.
func (d *dependencies) shared(links *file.Links) *service.Deps {
	key := []byte(d.cfg.DirectoryKey.Reveal())
	media := view.Media{IngestURL: string(d.cfg.MediaIngestURL), PlaybackURL: string(d.cfg.MediaPlaybackURL)}
	return &service.Deps{
		Store:     d.store,
		View:      &view.Builder{NetworkID: string(d.cfg.NetworkID), Now: d.millis, Media: media, Catalog: &auth.Catalog{}, FileURL: links.URL},
		Directory: directory.New(d.store, d.cfg.Region, key, d.millis, d.log),
		Outbox:    events.NewOutbox(d.store, d.millis, d.log),
		Region:    d.cfg.Region,
		NetworkID: string(d.cfg.NetworkID),
		Now:       d.millis,
		NewID:     region.NewID,
		Log:       d.log,
		Quotas:    d.quotas(),
		Push:      d.push,

		RankingAge: time.Duration(d.cfg.RankingAge),
	}
}

// jobs returns the background jobs.
func (a *api) jobs() background {
	shared := a.shared
	return background{
		server: []jobs.Job{a.roles.Job(), a.moves.MetricsJob()},
		home: append(allAwaited(a.store.Routes(), []jobs.Job{
			shared.Outbox.Job(), scheduledpost.New(shared).Job(), story.New(shared).Job(), notification.New(shared).Job(),
			sweepSessions(shared), sweepDailyUsages(shared), a.once.Sweep(sweepEvery),
			a.exports.Job(), a.retention.Job(), a.presences.SweepJob(), a.hooks.dispatcher.Job(), a.hooks.dispatcher.SweepJob(), a.pushes.Job(),
		}), erasure.New(shared).Job(), a.moves.Job()), // which wait themselves
		files: []jobs.Job{a.files.Sweep(), a.files.ReleaseJob()},
	}
}

// serverWorkers returns the workers other than the jobs of the region.
func (a *api) serverWorkers() []worker {
	evacuated := &evacuatedHomes{regions: a.evacuation.Regions, jobs: func(home region.Code) []jobs.Job {
		return a.background.ofHome(home, a.storage)
	}, log: a.log}
	return append(homeWorkers(a.presences.StoreJob(), a.reactions.LiveJob()),
		worker{name: "realtime", run: func(ctx context.Context) error { a.realtime.Run(ctx); return nil }},
		worker{name: "evacuated regions", run: evacuated.run}, a.hooks.releaseWorker())
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
func sweepSessions(d *service.Deps) jobs.Job {
	return d.SweepRows("session sweep", sweepEvery, func(tx *store.Tx, removed *int64) { tx.SweepSessions(d.Now(), removed) })
}
