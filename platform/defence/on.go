//go:build !hostile

package defence

// Off reports whether a defence is switched off, which it never is.
func Off(Name) bool { return false }
