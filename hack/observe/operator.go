package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/networkmetrics"
	"github.com/plaza-social/plaza/platform/statusz"
)

// startOperator serves the operator's metrics about the network, for which no operator runs because there is no cluster: it asks the
// servers every second, and reports only what they say.
func (n *network) startOperator(ctx context.Context) (address string, err error) {
	registry := client.NewRegistry()
	metrics := networkmetrics.New(registry)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), ReadHeaderTimeout: 5 * time.Second}
	n.stopOp = func() { _ = server.Close() }
	go func() { _ = server.Serve(l) }() // until Close
	sn := n.rendered().SN
	asked := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	go func() {
		for ctx.Err() == nil {
			metrics.Observe(sn, n.status(ctx, asked), time.Now())
			pause(ctx, interval)
		}
	}()
	return l.Addr().String(), nil
}

// status returns what the operator would report, as far as the servers tell.
func (n *network) status(ctx context.Context, asked *http.Client) *v1alpha1.SocialNetworkStatus {
	status := &v1alpha1.SocialNetworkStatus{}
	ready := metav1.ConditionTrue
	for _, region := range n.rendered().SN.Spec.Regions {
		url := "http://" + n.ops[string(region.Code)].Addr()
		available := statusOf(answers(ctx, asked, url+"/readyz", nil))
		if available == metav1.ConditionFalse {
			ready = metav1.ConditionFalse
		}
		var reported statusz.Status
		verified := metav1.ConditionUnknown
		if answers(ctx, asked, url+statusz.Path, &reported) {
			verified = metav1.ConditionTrue
			status.Schema = v1alpha1.SchemaStatus{
				Current: strconv.FormatInt(reported.Schema.Current, 10), Target: strconv.FormatInt(reported.Schema.Required, 10), Attempts: 1,
			}
		}
		status.Regions = append(status.Regions, v1alpha1.RegionStatus{Code: region.Code, Conditions: []metav1.Condition{
			{Type: v1alpha1.RegionAvailable, Status: available},
			{Type: v1alpha1.RegionUpdated, Status: metav1.ConditionTrue},
			{Type: v1alpha1.RegionKeysVerified, Status: verified},
		}})
	}
	for kind, is := range map[string]metav1.ConditionStatus{
		v1alpha1.ConditionReady: ready, v1alpha1.ConditionRegionsAvailable: ready, v1alpha1.ConditionSchemaMigrated: metav1.ConditionTrue,
		v1alpha1.ConditionKeysReady: metav1.ConditionTrue, v1alpha1.ConditionRegionsPinned: metav1.ConditionUnknown,
	} {
		status.Conditions = append(status.Conditions, metav1.Condition{Type: kind, Status: is})
	}
	return status
}

func statusOf(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// answers reports whether a server answers with 200, and decodes the answer unless into is nil.
func answers(ctx context.Context, asked *http.Client, url string, into any) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := asked.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode == http.StatusOK && (into == nil || json.NewDecoder(response.Body).Decode(into) == nil)
}
