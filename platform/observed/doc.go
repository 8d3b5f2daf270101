// Package observed tests what the operators of a network see of it: traces, logs and metrics.
package observed
