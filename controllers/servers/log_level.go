package servers

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// logLevelVariable is the variable of a region's env that takes precedence over spec.server.logLevel.
const logLevelVariable = "PLAZA_LOG_LEVEL"

// setLogLevel sets the log level of a server that has another one than the spec. A server of a paused network keeps its level, and
// so does one that fails to change it until the next pass.
func setLogLevel(ctx context.Context, servers platformclient.Servers, sn *v1alpha1.SocialNetwork, code v1alpha1.RegionCode,
	report *stage.ServerReport,
) {
	level := report.Status.LogLevel
	if report.Err != nil || level == nil || sn.Spec.Paused {
		return
	}
	wanted := logLevelOf(sn, code)
	if level.Wanted(wanted) == level.Current {
		return
	}
	if err := servers.SetLogLevel(ctx, report.Server, wanted); err != nil {
		log.FromContext(ctx).Info("the log level of a server was not set", "pod", report.Pod, "error", err.Error())
	}
}

// logLevelOf returns the log level of the servers of a region, or "" for the one with which they start.
func logLevelOf(sn *v1alpha1.SocialNetwork, code v1alpha1.RegionCode) string {
	region := render.Network{SN: sn}.Region(code)
	isVariable := func(v corev1.EnvVar) bool { return v.Name == logLevelVariable }
	if sn.Spec.Server == nil || region != nil && slices.ContainsFunc(region.Env, isVariable) {
		return ""
	}
	return sn.Spec.Server.LogLevel
}
