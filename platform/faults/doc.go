// Package faults tests a network under failures and concurrent load: no acknowledged write is lost, no count drifts, and a
// region that is down delays no request that does not need its data. Its tests have the build tag faults.
package faults
