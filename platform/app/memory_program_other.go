//go:build !linux

package app

// release has no effect on this operating system.
func release(programPart) {}
