package v1alpha1

// Observability is what the servers export about requests. Metrics are always exported, see monitoring.
type Observability struct {
	// Export of traces. Empty: none.
	// +optional
	Tracing *Tracing `json:"tracing,omitempty"`
}

// Tracing exports traces by OTLP over HTTP. Variables of a region's env whose names begin with OTEL_ configure more, such as headers with
// credentials of a collector.
type Tracing struct {
	// URL of a collector, such as http://collector.monitoring:4318, to which /v1/traces is appended.
	// +kubebuilder:validation:MaxLength=500
	// +kubebuilder:validation:Pattern=`^https?://[^\s/?#@]+(/[^\s?#]*)?$`
	Endpoint string `json:"endpoint"`

	// Percentage of the requests that are traced, from 0 to 100 with up to three decimal places.
	// +optional
	// +kubebuilder:default="1"
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:Pattern=`^(100|[0-9]{1,2}([.][0-9]{1,3})?)$`
	SamplingPercent string `json:"samplingPercent,omitempty"`
}
