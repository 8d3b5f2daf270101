// Package live tests alerts and dashboards with a Prometheus that scrapes running servers. Its tests have the build tag
// alerts, and that of the page in a browser the build tag ui.
package live
