package devdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lockName is the file that a running program holds locked in its data folder.
const lockName = "database.lock"

// ErrInUse is returned when another running program holds a lock.
var ErrInUse = errors.New("in use by another program")

// Lock takes the file at path for this process, and makes it when it is not there. The kernel drops the lock when the
// process ends, however it ends: whoever holds it knows that a database server still running on the folder is an orphan.
func Lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(path)
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is %w, process %s", filepath.Dir(path), ErrInUse, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	// The number is only for the message above; the lock does not depend on it.
	if err := errors.Join(f.Truncate(0), writeAt(f, fmt.Sprintln(os.Getpid()))); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}
