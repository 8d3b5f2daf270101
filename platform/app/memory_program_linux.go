package app

import "syscall"

// release removes the pages of a part of the program from the memory of the process, without effect on what it contains.
func release(p programPart) {
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, p.start, p.end-p.start, syscall.MADV_DONTNEED) // advice that may fail
}
