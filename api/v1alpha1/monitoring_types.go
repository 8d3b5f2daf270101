package v1alpha1

// Monitoring selects the objects to install for Prometheus and Grafana. They need the CRDs of the Prometheus operator;
// without them, the network works, AlertsApplied is False, and the objects are created when the CRDs are installed.
type Monitoring struct {
	// Whether to create a ServiceMonitor, so that Prometheus scrapes the platform.
	// +optional
	// +kubebuilder:default=true
	ServiceMonitor bool `json:"serviceMonitor"`

	// Additional labels of the objects, by which Prometheus selects them, such
	// as release: kube-prometheus-stack.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('plaza.social/') && !k.startsWith('app.kubernetes.io/'))",message="labels of monitoring must not start with plaza.social/ or app.kubernetes.io/, which are reserved for the operator"
	Labels map[string]string `json:"labels,omitempty"`

	// The alert rules.
	// +optional
	// +kubebuilder:default={}
	Alerts Alerts `json:"alerts,omitempty"`

	// Whether to create a ConfigMap with the dashboard, labelled grafana_dashboard=1.
	// +optional
	// +kubebuilder:default=true
	Dashboards bool `json:"dashboards"`

	// The Grafana instances of the Grafana operator that load the dashboard. It applies to clusters with the CRD GrafanaDashboard.
	// +optional
	Grafana Grafana `json:"grafana,omitempty"`

	// Probes of the public hosts, with the CRD Probe of the Prometheus operator. Empty: none.
	// +optional
	Probe *Probe `json:"probe,omitempty"`
}

// Grafana selects Grafana instances.
type Grafana struct {
	// Labels of the objects of kind Grafana, such as dashboards: grafana. Empty: all instances of the cluster.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	InstanceLabels map[string]string `json:"instanceLabels,omitempty"`
}

// Probe configures the requests that Prometheus sends to the public hosts of the regions, through a prober: they fail where users fail, for
// example because of DNS, a certificate or a gateway.
type Probe struct {
	// Address of the prober, a blackbox exporter, such as blackbox-exporter.monitoring:9115.
	// +required
	// +kubebuilder:validation:MaxLength=259
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?(:[0-9]{1,5})?$`
	Prober string `json:"prober"`

	// Module of the prober's configuration that sends the requests.
	// +optional
	// +kubebuilder:default=http_2xx
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	Module string `json:"module,omitempty"`
}

// Alerts configures the alert rules and their objectives.
type Alerts struct {
	// Whether to create a PrometheusRule.
	// +optional
	// +kubebuilder:default=true
	Enabled bool `json:"enabled"`

	// Percentage of requests that must not fail because of the platform, from 90 to 99.999.
	// +optional
	// +kubebuilder:default="99.9"
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{2}([.][0-9]{1,4})?$') && double(self) >= 90.0 && double(self) <= 99.999",message="availability must be a percentage between 90 and 99.999, such as 99.9"
	Availability string `json:"availability,omitempty"`

	// Latency within which 99% of the requests must be answered, from 5ms to 10s.
	// +optional
	// +kubebuilder:default="500ms"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('5ms') && duration(self) <= duration('10s')",message="latencyP99 must be between 5ms and 10s"
	LatencyP99 Duration `json:"latencyP99,omitempty"`

	// Alerts that are not installed, by their names. AlertsApplied is False while a name is not that of an alert.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=100
	Disabled []string `json:"disabled,omitempty"`

	// Changes of single alerts. AlertsApplied is False while an entry names an alert that does not exist, or a threshold that the
	// alert does not allow; the alert then has its default one.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Overrides []AlertOverride `json:"overrides,omitempty"`

	// URL of a folder with the runbooks, to which the name of the alert and .md are appended. Empty: the folder in the
	// repository of the platform.
	// +optional
	// +kubebuilder:validation:MaxLength=500
	// +kubebuilder:validation:Pattern=`^https?://`
	RunbookURL string `json:"runbookURL,omitempty"`

	// Additional labels of every alert, such as team. The label namespace is always that of the network.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-zA-Z_][a-zA-Z0-9_]*$') && !(k in ['alertname', 'namespace', 'severity', 'network', 'region', 'home', 'kind']))",message="labels of alerts must be Prometheus label names, and must not be alertname, namespace, severity, network, region, home or kind"
	Labels map[string]string `json:"labels,omitempty"`
}

// AlertOverride changes an alert.
type AlertOverride struct {
	// Name of the alert, such as PlazaOutboxNotDraining.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	Name string `json:"name"`

	// Label severity of the alert: critical, warning or info. Empty: that of the alert.
	// +optional
	Severity AlertSeverity `json:"severity,omitempty"`

	// Threshold of the alert: a duration such as 10m for times, otherwise a number such as 0.2. The table of alerts in
	// controllers/README.md lists the default ones and their bounds. Empty: the default one.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^(([0-9]+(\.[0-9]+)?(ms|s|m|h))+|[0-9]+(\.[0-9]{1,4})?)$`
	Threshold string `json:"threshold,omitempty"`
}

// AlertSeverity is the severity of an alert.
//
// +kubebuilder:validation:Enum=critical;warning;info
type AlertSeverity string
