package webhook

// WithoutMetrics returns the options of a second dispatcher of the same process.
func (o Options) WithoutMetrics() Options {
	o.Registerer = nil
	return o
}
