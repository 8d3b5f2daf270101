package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"
	_ "time/tzdata" // the image has no time zones

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/plaza-social/plaza/controllers"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/networkmetrics"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// leaderElectionID is the name of the leader election Lease.
const leaderElectionID = "plaza-operator.plaza.social"

// options are the operator's flags.
type options struct {
	controllers.Options

	metricsAddress string
	healthAddress  string
	pprofAddress   string
	leaderElection bool
	namespaces     []string
	logLevel       slog.Level
	qps            float32
}

func newRoot() *cobra.Command { return newCommand(&options{}, run) }

// newCommand returns the command that stores its flags in o and calls run with them.
func newCommand(o *options, run func(context.Context, options) error) *cobra.Command {
	var level, secretLabel string
	cmd := &cobra.Command{
		Use:           "plaza-operator",
		Short:         "Run the controller of SocialNetwork objects",
		Version:       telemetry.BuildInfo().Version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.logLevel.UnmarshalText([]byte(level)); err != nil {
				return fmt.Errorf("--log-level: %w", err)
			}
			if secretLabel != "" {
				var err error
				if o.Restrictions.SecretLabel, err = labels.Parse(secretLabel); err != nil {
					return fmt.Errorf("--allowed-secret-label: %w", err)
				}
			}
			return run(cmd.Context(), *o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080", "address of /metrics; 0 disables it")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", "0", "address of /debug/pprof; 0 disables it. Profiles may contain keys")
	flags.BoolVar(&o.leaderElection, "leader-elect", false, "elect a leader, so that only one of several replicas is active")
	flags.StringSliceVar(&o.namespaces, "watch-namespaces", nil, "namespaces to watch; empty means all")
	flags.StringVar(&o.Namespace, "namespace", os.Getenv("POD_NAMESPACE"),
		"namespace of the operator, for the lease and the network policies (POD_NAMESPACE)")
	flags.StringVar(&o.DefaultImage, "platform-image", os.Getenv("PLAZA_IMAGE"), "default image of the platform (PLAZA_IMAGE)")
	flags.Float32Var(&o.qps, "kube-api-qps", 100, "maximum number of requests per second to the API server; bursts may be twice as large")
	flags.StringSliceVar(&o.Restrictions.ImagePrefixes, "allowed-image-prefixes", nil,
		"prefixes of the images that networks may run, such as registry.example/plaza/; empty means any")
	flags.StringVar(&secretLabel, "allowed-secret-label", "",
		"label that Secrets must have to be used by networks, such as plaza.social/usable=true; empty means any Secret of the namespace. If "+
			"set, pods must also use the network's ServiceAccounts, and no volumes of kinds such as hostPath or csi")
	flags.DurationVar(&o.ClusterDeletionTimeout, "cluster-deletion-timeout", time.Hour,
		"how long the deletion of a network waits for member clusters that cannot be reached")
	flags.IntVar(&o.MaxConcurrentRollouts, "max-concurrent-rollouts", 0,
		"maximum number of networks that are updated at the same time, for example after an upgrade of the operator; 0 means any number")
	flags.StringVar(&level, "log-level", "info", "debug, info, warn or error")
	return cmd
}

// garbagePercent keeps memory low: most of it is a cache that seldom changes, so collecting more often costs little.
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
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS, config.Burst = o.qps, int(2*o.qps)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme.New(),
		Cache:                         controllers.CacheOptions(o.namespaces),
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:        o.healthAddress,
		PprofBindAddress:              o.pprofAddress,
		LeaderElection:                o.leaderElection,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       o.Namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	if err := addReconciler(ctx, mgr, o); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func addReconciler(ctx context.Context, mgr ctrl.Manager, o options) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding /healthz: %w", err)
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding /readyz: %w", err)
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("creating the discovery client: %w", err)
	}
	reconciler := &controllers.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Servers:   platformclient.New(),
		Recorder:  mgr.GetEventRecorder("plaza-operator"),
		Options:   o.Options,
		Now:       time.Now,
		Kinds:     &controllers.OptionalKinds{Discovery: discoveryClient},
		Metrics:   networkmetrics.New(metrics.Registry),
	}
	if err := reconciler.AddClusters(ctx, mgr, clusters.Options{Namespace: o.Namespace, Servers: clusters.Servers}); err != nil {
		return err
	}
	return reconciler.SetupWithManager(ctx, mgr)
}
