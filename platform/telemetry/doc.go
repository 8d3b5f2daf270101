// Package telemetry sets up what an operator sees of a running server: logs, metrics and the build it runs.
//
// Log messages are constant sentences and everything that varies is a key: a message can be searched for and counted.
package telemetry
