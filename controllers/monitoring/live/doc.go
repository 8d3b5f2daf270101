// Package live tests alerts and dashboards with a Prometheus that scrapes running servers.
package live
