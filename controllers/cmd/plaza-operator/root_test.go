package main

import (
	"context"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plaza-social/plaza/controllers"
	"github.com/plaza-social/plaza/controllers/restrictions"
)

// TestFlags sets every flag, and checks that each has its effect.
func TestFlags(t *testing.T) {
	var got options
	cmd := newCommand(&options{}, func(_ context.Context, o options) error { got = o; return nil })
	cmd.SetArgs([]string{
		"--metrics-bind-address=:1", "--health-probe-bind-address=:2", "--pprof-bind-address=:3", "--leader-elect", "--watch-namespaces=a,b",
		"--namespace=operators", "--platform-image=plaza:v1", "--kube-api-qps=7", "--allowed-image-prefixes=a.example/,b.example/",
		"--allowed-secret-label=usable=true", "--cluster-deletion-timeout=2h", "--max-concurrent-rollouts=3", "--log-level=warn",
	})
	require.NoError(t, cmd.Execute())
	of := got.Options
	require.True(t, of.Restrictions.SecretLabel.Matches(labels.Set{"usable": "true"}))
	require.False(t, of.Restrictions.SecretLabel.Matches(labels.Set{}))
	got.Restrictions.SecretLabel = nil
	require.Equal(t, options{
		metricsAddress: ":1", healthAddress: ":2", pprofAddress: ":3", leaderElection: true, namespaces: []string{"a", "b"},
		logLevel: slog.LevelWarn, qps: 7,
		Options: controllers.Options{
			DefaultImage: "plaza:v1", Namespace: "operators",
			Restrictions:           restrictions.Limits{ImagePrefixes: []string{"a.example/", "b.example/"}},
			ClusterDeletionTimeout: 2 * time.Hour, MaxConcurrentRollouts: 3,
		},
	}, got)
	for i := range reflect.TypeOf(of).NumField() {
		require.False(t, reflect.ValueOf(of).Field(i).IsZero(), "no flag sets %s", reflect.TypeOf(of).Field(i).Name)
	}
}

// TestDefaultFlags runs the operator without flags. Its pod has the namespace and the image in variables.
func TestDefaultFlags(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "operators")
	t.Setenv("PLAZA_IMAGE", "plaza:v1")
	var got options
	cmd := newCommand(&options{}, func(_ context.Context, o options) error { got = o; return nil })
	cmd.SetArgs([]string{})
	require.NoError(t, cmd.Execute())
	require.Equal(t, options{
		metricsAddress: ":8080", healthAddress: ":8081", pprofAddress: "0", logLevel: slog.LevelInfo, qps: 100,
		Options: controllers.Options{Namespace: "operators", DefaultImage: "plaza:v1", ClusterDeletionTimeout: time.Hour},
	}, got, "any Secret is allowed")
}

func TestInvalidFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"--log-level: ":                 {"--log-level=loud"},
		"unknown flag: --watch":         {"--watch"},
		`unknown command "serve"`:       {"serve"},
		"--allowed-secret-label: ":      {"--allowed-secret-label=a=b=c"},
		`invalid argument "x" for "--m`: {"--max-concurrent-rollouts=x"},
	} {
		cmd := newCommand(&options{}, func(context.Context, options) error { return nil })
		cmd.SetArgs(args)
		require.ErrorContains(t, cmd.Execute(), want)
	}
}
