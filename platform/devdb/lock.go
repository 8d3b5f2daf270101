package devdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lockName is the file in the data directory that a running program locks.
const lockName = "database.lock"

// ErrInUse is returned if another program holds a lock.
var ErrInUse = errors.New("in use by another program")

// Lock locks the file at path for this process and creates it if necessary. The kernel releases the lock when the
// process ends for any reason, so for its holder any server still running on the directory is an orphan.
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
	// The process id is only for the message above; the lock does not depend on it.
	truncateErr := f.Truncate(0)
	_, err = fmt.Fprintln(f, os.Getpid())
	if err := errors.Join(truncateErr, err); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
