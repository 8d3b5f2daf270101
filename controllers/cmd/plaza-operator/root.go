package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/plaza-social/plaza/controllers"
	"github.com/plaza-social/plaza/controllers/regional"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// leaderElectionID is the name of the Lease that the leading operator holds.
const leaderElectionID = "plaza-operator.plaza.social"

// options are the operator's flags.
type options struct {
	metricsAddress string
	healthAddress  string
	pprofAddress   string
	leaderElection bool
	namespaces     []string
	namespace      string
	image          string
	logLevel       slog.Level
	qps            float32
}

func newRoot() *cobra.Command {
	o := options{}
	var level string
	cmd := &cobra.Command{
		Use:           "plaza-operator",
		Short:         "Bring SocialNetworks about in a Kubernetes cluster",
		Version:       telemetry.BuildInfo().Version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.logLevel.UnmarshalText([]byte(level)); err != nil {
				return fmt.Errorf("--log-level: %w", err)
			}
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080", "address of /metrics; 0 for none")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", "0", "address of /debug/pprof; 0 for none. It shows what the operator holds in memory, keys included")
	flags.BoolVar(&o.leaderElection, "leader-elect", false, "let one of several operators lead; the others wait")
	flags.StringSliceVar(&o.namespaces, "watch-namespaces", nil, "namespaces to look after; empty: all")
	flags.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "the operator's own namespace, for the lease and for the network policies (POD_NAMESPACE)")
	flags.StringVar(&o.image, "platform-image", os.Getenv("PLAZA_IMAGE"), "the platform's image where a spec names none (PLAZA_IMAGE)")
	flags.Float32Var(&o.qps, "kube-api-qps", 100, "most requests a second to the API server, twice as many for a moment")
	flags.StringVar(&level, "log-level", "info", "debug, info, warn or error")
	return cmd
}

// garbagePercent keeps the operator small: its memory is a cache that seldom changes, so collecting more often costs little.
const garbagePercent = 40

func run(ctx context.Context, o options) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	handler := slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: o.logLevel})
	ctrl.SetLogger(logr.FromSlogHandler(handler))
	klog.SetLogger(logr.FromSlogHandler(handler))
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the API server: %w", err)
	}
	config.QPS, config.Burst = o.qps, int(2*o.qps)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        controllers.NewScheme(),
		Cache:                         controllers.CacheOptions(o.namespaces),
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:        o.healthAddress,
		PprofBindAddress:              o.pprofAddress,
		LeaderElection:                o.leaderElection,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	if err := setUp(ctx, mgr, o); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func setUp(ctx context.Context, mgr ctrl.Manager, o options) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding /healthz: %w", err)
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding /readyz: %w", err)
	}
	known, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making the discovery client: %w", err)
	}
	kinds := &controllers.OptionalKinds{Discovery: known}
	reconciler := &controllers.Reconciler{
		Client:   mgr.GetClient(),
		Fresh:    mgr.GetAPIReader(),
		Servers:  regional.NewHTTP(),
		Recorder: mgr.GetEventRecorder("plaza-operator"),
		Options:  controllers.Options{DefaultImage: o.image, Namespace: o.namespace},
		Now:      time.Now,
		Kinds:    kinds,
		Stages:   controllers.Stages(mgr.GetScheme(), kinds),
		Metrics:  controllers.NewMetrics(metrics.Registry),
	}
	return reconciler.SetUp(ctx, mgr, kinds)
}
