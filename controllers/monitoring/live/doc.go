// Package live tests alerts and dashboards with a Prometheus that scrapes running servers. Its tests have the build tag
// alerts, that of the page in a browser the build tag ui, and TestObserve, which shows them, the build tag observe: make observe.
package live
