package app

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/edge/realtime"
	"github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/service"
	prehooks "github.com/plaza-social/plaza/platform/service/prehook"
	webhooks "github.com/plaza-social/plaza/platform/service/webhook"
)

// hooks are the parts that call addresses of the app's own servers.
type hooks struct {
	service    *webhooks.Service
	settings   *prehooks.Service
	dispatcher *delivery.Dispatcher
	prehook    *delivery.Prehook
	sealer     *seal.Sealer
	release    time.Duration // see limits.Limits.ReleaseWebhooks
}

func newHooks(d *dependencies, shared *service.Deps, source *realtime.Hub) (*hooks, error) {
	sealer, err := seal.New([]byte(d.cfg.DirectoryKey.Reveal()))
	if err != nil {
		return nil, err
	}
	o := delivery.Options{
		Store: shared.Store, Region: shared.Region, NetworkID: shared.NetworkID, Now: shared.Now, Log: shared.Log, Source: source,
		Sealer: sealer, Networks: d.cfg.WebhookNetworks, Registerer: d.metrics.Registerer(),
	}
	o.Prehook = delivery.NewPrehook(o)
	return &hooks{
		service: webhooks.New(shared, sealer, d.cfg.WebhookNetworks), settings: prehooks.New(shared, sealer, d.cfg.WebhookNetworks),
		dispatcher: delivery.New(o), prehook: o.Prehook, sealer: sealer, release: d.limits.ReleaseWebhooks,
	}, nil
}

// releaseWorker returns the worker that leaves the webhooks to other servers when the server stops.
func (h *hooks) releaseWorker() worker {
	return worker{name: "webhook leases", run: func(ctx context.Context) error {
		<-ctx.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.release)
		defer cancel()
		h.dispatcher.Release(ctx)
		return nil
	}}
}
