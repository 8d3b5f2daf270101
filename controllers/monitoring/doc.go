// Package monitoring renders what Prometheus and Grafana get for a network: alerts, and one dashboard over its regions.
package monitoring
