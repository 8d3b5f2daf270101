package v1alpha1

// Monitoring says what is installed for Prometheus and Grafana. The objects need the CRDs of the Prometheus operator; where
// those are absent the network works without, AlertsApplied says so, and they appear when the CRDs do.
type Monitoring struct {
	// Whether a ServiceMonitor makes Prometheus scrape the platform.
	// +optional
	// +kubebuilder:default=true
	ServiceMonitor bool `json:"serviceMonitor"`

	// The alerts.
	// +optional
	// +kubebuilder:default={}
	Alerts Alerts `json:"alerts,omitempty"`

	// Whether a ConfigMap with the dashboard is made, labelled grafana_dashboard=1.
	// +optional
	// +kubebuilder:default=true
	Dashboards bool `json:"dashboards"`
}

// Alerts says which objectives the alerts watch.
type Alerts struct {
	// Whether a PrometheusRule is made.
	// +optional
	// +kubebuilder:default=true
	Enabled bool `json:"enabled"`

	// Share of requests that must not fail for a fault of the platform, in percent, from 90 to 99.999.
	// +optional
	// +kubebuilder:default="99.9"
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{2}([.][0-9]{1,4})?$') && double(self) >= 90.0 && double(self) <= 99.999",message="availability must be a percentage between 90 and 99.999, such as 99.9"
	Availability string `json:"availability,omitempty"`

	// Time within which 99 of 100 requests must be answered, from 5ms to 10s.
	// +optional
	// +kubebuilder:default="500ms"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('5ms') && duration(self) <= duration('10s')",message="latencyP99 must be between 5ms and 10s"
	LatencyP99 Duration `json:"latencyP99,omitempty"`

	// Further labels of every alert, such as team.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-zA-Z_][a-zA-Z0-9_]*$') && !(k in ['alertname', 'severity', 'network', 'region', 'home', 'kind']))",message="labels of alerts must be Prometheus label names, and cannot be alertname, severity, network, region, home or kind"
	Labels map[string]string `json:"labels,omitempty"`
}
