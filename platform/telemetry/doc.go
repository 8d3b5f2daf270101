// Package telemetry provides logs, metrics and build information of a running server.
//
// Log messages are constant and variable parts are attributes, so that messages can be searched for and counted.
package telemetry
