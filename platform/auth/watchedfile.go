package auth

import (
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// refreshInterval is the age at which the next use of a file re-reads it.
	refreshInterval = time.Second
	// maxExtraReads is how many additional reads per refreshInterval failed lookups may cause: wrong keys must not
	// become disk load.
	maxExtraReads = 20
	// maxFileBytes is far above the size of any valid key file.
	maxFileBytes = 1 << 20
)

var errFileTooLarge = errors.New("larger than 1 MiB")

// FileOption configures how a key file is read.
type FileOption func(*fileOptions)

type fileOptions struct {
	now func() time.Time
	log *slog.Logger
}

// WithClock replaces time.Now, which determines expiry and when the file is re-read.
func WithClock(now func() time.Time) FileOption { return func(o *fileOptions) { o.now = now } }

// WithLogger replaces slog.Default as the logger of reloads and invalid files. File contents are never logged.
func WithLogger(log *slog.Logger) FileOption { return func(o *fileOptions) { o.log = log } }

// watchedFile is the parsed content of a file that is re-read on use.
//
// It needs no goroutine and no file system notification: Kubernetes updates a mounted Secret by swapping a symlink two
// directories up, which watchers miss, while reading a small file once per second does not. Changes are detected by the
// content's digest, independently of clocks and inodes. If the file disappears or becomes invalid, the previous content
// stays in use, so that a mistake does not lock out all clients.
type watchedFile[T any] struct {
	path    string
	read    func() ([]byte, error)
	parse   func(content []byte) (*T, error) // must not put content into its error
	options fileOptions

	current  atomic.Pointer[T]
	lastRead atomic.Pointer[time.Time]

	reading    sync.Mutex // guards the fields below
	digest     [sha256.Size]byte
	loaded     time.Time // when current was read
	checked    time.Time // when the file was last read successfully
	lastError  string    // the last logged error, so that each is logged once
	window     time.Time // start of the interval in which extraReads are counted
	extraReads int
}

// openFile reads path for the first time. Unlike later reads, it fails if the file is invalid.
func openFile[T any](path string, parse func([]byte) (*T, error), opts []FileOption) (*watchedFile[T], error) {
	f := &watchedFile[T]{path: path, read: func() ([]byte, error) { return readSmallFile(path) }, parse: parse}
	return f.open(opts)
}

// open reads the file for the first time.
func (f *watchedFile[T]) open(opts []FileOption) (*watchedFile[T], error) {
	f.options = fileOptions{now: time.Now, log: slog.Default()}
	for _, opt := range opts {
		opt(&f.options)
	}
	if err := f.refresh(); err != nil {
		return nil, err
	}
	return f, nil
}

// get returns the content, re-reading the file if the last read is too old. One caller reads; the others do not wait.
func (f *watchedFile[T]) get() *T {
	if f.stale() && f.reading.TryLock() {
		f.refreshAndLog()
		f.reading.Unlock()
	}
	return f.current.Load()
}

// getNewer re-reads the file immediately, for a caller that did not find its key in old. It reports whether the content
// has changed since.
func (f *watchedFile[T]) getNewer(old *T) (*T, bool) {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.current.Load() == old && f.allowExtraRead() {
		f.refreshAndLog()
	}
	current := f.current.Load()
	return current, current != old
}

func (f *watchedFile[T]) stale() bool {
	age := f.options.now().Sub(*f.lastRead.Load())
	return age >= refreshInterval || age < 0 // the clock may have been set back
}

// allowExtraRead counts reads caused by failed lookups and limits their rate. The caller holds the lock.
func (f *watchedFile[T]) allowExtraRead() bool {
	now := f.options.now()
	if age := now.Sub(f.window); age >= refreshInterval || age < 0 {
		f.window, f.extraReads = now, 0
	}
	f.extraReads++
	return f.extraReads <= maxExtraReads
}

// refreshAndLog refreshes the content and logs each new error and each change once. The caller holds the lock.
func (f *watchedFile[T]) refreshAndLog() {
	before := f.current.Load()
	err := f.refresh()
	switch {
	case err != nil && err.Error() != f.lastError:
		f.lastError = err.Error()
		f.options.log.Error("key file is invalid, using the previous keys", "path", f.path, "error", err)
	case err == nil && f.current.Load() != before:
		f.lastError = ""
		f.options.log.Info("key file reloaded", "path", f.path)
	case err == nil:
		f.lastError = ""
	}
}

// refresh reads the file and parses it if its content has changed.
func (f *watchedFile[T]) refresh() error {
	now := f.options.now()
	f.lastRead.Store(&now)
	content, err := f.read()
	if err != nil {
		return err
	}
	digest := sha256.Sum256(content)
	if f.current.Load() != nil && digest == f.digest {
		f.checked = now
		return nil
	}
	parsed, err := f.parse(content)
	if err != nil {
		return &os.PathError{Op: "read keys", Path: f.path, Err: err}
	}
	f.digest, f.loaded, f.checked = digest, now, now
	f.current.Store(parsed)
	return nil
}

func readSmallFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened for reading only
	content, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFileBytes {
		return nil, &os.PathError{Op: "read keys", Path: path, Err: errFileTooLarge}
	}
	return content, nil
}
