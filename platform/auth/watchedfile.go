package auth

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
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

// fileKey is a key in a file.
type fileKey interface {
	info() KeyInfo
	material() string // differs between the keys of a file
}

// watchedFile is a file of keys that is re-read on use.
//
// It needs no goroutine and no file system notification: Kubernetes updates a mounted Secret by swapping a symlink two
// directories up, which watchers miss, while reading a small file once per second does not. Changes are detected by the
// content's digest, independently of clocks and inodes. If the file disappears or becomes invalid, the previous content
// stays in use, so that a mistake does not lock out all clients.
type watchedFile[K fileKey] struct {
	path    string
	noun    string // what the file contains
	read    func() ([]byte, error)
	parse   func(content []byte) ([]K, error) // must not put content into its error
	options fileOptions

	current  atomic.Pointer[[]K]
	lastRead atomic.Pointer[time.Time]

	reading    sync.Mutex // guards the fields below
	digest     [sha256.Size]byte
	loaded     time.Time // when current was read
	checked    time.Time // when the file was last read successfully
	lastError  string    // the last logged error, so that each is logged once
	window     time.Time // start of the interval in which extraReads are counted
	extraReads int
}

// open reads the file for the first time. Unlike later reads, it fails if the file is invalid.
func (f *watchedFile[K]) open(opts []FileOption) error {
	f.options = fileOptions{now: time.Now, log: slog.Default()}
	for _, opt := range opts {
		opt(&f.options)
	}
	return f.refresh()
}

// IDs describes the keys in the order of the file.
func (f *watchedFile[K]) IDs() []KeyInfo { return infosOf(*f.get()) }

func infosOf[K fileKey](keys []K) []KeyInfo {
	infos := make([]KeyInfo, len(keys))
	for i, key := range keys {
		infos[i] = key.info()
	}
	return infos
}

// Format prints the number of keys for every verb.
func (f *watchedFile[K]) Format(state fmt.State, _ rune) {
	_, _ = fmt.Fprint(state, f.LogValue().String())
}

// LogValue returns the number of keys.
func (f *watchedFile[K]) LogValue() slog.Value {
	if f == nil {
		return slog.StringValue("no keys")
	}
	return slog.StringValue(fmt.Sprintf("%d %s", len(*f.current.Load()), f.noun))
}

// MarshalJSON returns the text of LogValue.
func (f *watchedFile[K]) MarshalJSON() ([]byte, error) { return json.Marshal(f.LogValue().String()) }

// get returns the content, re-reading the file if the last read is too old. One caller reads; the others do not wait.
func (f *watchedFile[K]) get() *[]K {
	if f.stale() && f.reading.TryLock() {
		f.refreshAndLog()
		f.reading.Unlock()
	}
	return f.current.Load()
}

// getNewer re-reads the file immediately, for a caller that did not find its key in old. It reports whether the content
// has changed since.
func (f *watchedFile[K]) getNewer(old *[]K) (*[]K, bool) {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.current.Load() == old && f.allowExtraRead() {
		f.refreshAndLog()
	}
	current := f.current.Load()
	return current, current != old
}

// find returns the first key that satisfies match, and false if there is none. A key that was added to the file is found immediately.
func (f *watchedFile[K]) find(match func(K) bool) (key K, ok bool) {
	for keys, more := f.get(), true; more; keys, more = f.getNewer(keys) {
		if i := slices.IndexFunc(*keys, match); i >= 0 {
			return (*keys)[i], true
		}
	}
	return key, false
}

func (f *watchedFile[K]) stale() bool {
	age := f.options.now().Sub(*f.lastRead.Load())
	return age >= refreshInterval || age < 0 // the clock may have been set back
}

// allowExtraRead counts reads caused by failed lookups and limits their rate. The caller holds the lock.
func (f *watchedFile[K]) allowExtraRead() bool {
	now := f.options.now()
	if age := now.Sub(f.window); age >= refreshInterval || age < 0 {
		f.window, f.extraReads = now, 0
	}
	f.extraReads++
	return f.extraReads <= maxExtraReads
}

// refreshAndLog refreshes the content and logs each new error and each change once. The caller holds the lock.
func (f *watchedFile[K]) refreshAndLog() {
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
func (f *watchedFile[K]) refresh() error {
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
	f.current.Store(&parsed)
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
