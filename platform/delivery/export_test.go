package delivery

import "context"

// WithoutMetrics returns the options of a second dispatcher of the same process.
func (o Options) WithoutMetrics() Options {
	o.Registerer = nil
	return o
}

// WithLimit returns the options with another limit of each attempt than a time.
func (o Options) WithLimit(limit func(context.Context) (context.Context, context.CancelFunc)) Options {
	o.limit = limit
	return o
}
