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
	// lookInterval is how old what we know of a file may get before its next user looks again.
	lookInterval = time.Second
	// hastyLooks is how many looks per lookInterval failed lookups may cause on top: wrong keys must not turn into disk load.
	hastyLooks = 20
	// maxFileBytes is far above any list of keys; a larger file is a mistake.
	maxFileBytes = 1 << 20
)

var errFileTooLarge = errors.New("larger than 1 MiB")

// FileOption changes how a file of keys is read.
type FileOption func(*fileOptions)

type fileOptions struct {
	now func() time.Time
	log *slog.Logger
}

// WithClock replaces time.Now: not-after times and the pace of re-reading follow it.
func WithClock(now func() time.Time) FileOption { return func(o *fileOptions) { o.now = now } }

// WithLogger replaces slog.Default for what is said about new and broken files; contents are never said.
func WithLogger(log *slog.Logger) FileOption { return func(o *fileOptions) { o.log = log } }

// watchedFile is the parsed content of a file, renewed by those who use it.
//
// There is no goroutine and no file system notification: Kubernetes replaces a mounted Secret by swapping a symlink two
// folders up, which watchers miss, while reading a small file once a second never does. The content's digest tells
// whether anything changed, so that neither clocks nor inode numbers matter. A file that is gone or broken keeps what was
// there before: a slip of the hand must not lock everybody out.
type watchedFile[T any] struct {
	path    string
	read    func() ([]byte, error)
	parse   func(content []byte) (*T, error) // must not put content into its error
	options fileOptions

	current  atomic.Pointer[T]
	lastLook atomic.Pointer[time.Time]

	looking sync.Mutex // guards everything below
	digest  [sha256.Size]byte
	loaded  time.Time // when current was taken
	checked time.Time // the last look that went well
	trouble string    // what was last complained about, to say it once
	window  time.Time
	hasty   int
}

// openFile reads path for the first time; here, unlike later, a broken file is an error.
func openFile[T any](path string, parse func([]byte) (*T, error), opts []FileOption) (*watchedFile[T], error) {
	f := &watchedFile[T]{path: path, read: func() ([]byte, error) { return readSmallFile(path) }, parse: parse}
	return f.open(opts)
}

// open looks for the first time.
func (f *watchedFile[T]) open(opts []FileOption) (*watchedFile[T], error) {
	f.options = fileOptions{now: time.Now, log: slog.Default()}
	for _, opt := range opts {
		opt(&f.options)
	}
	if err := f.look(); err != nil {
		return nil, err
	}
	return f, nil
}

// get returns the content, after a fresh look where the last one is too old. One caller looks, the others do not wait.
func (f *watchedFile[T]) get() *T {
	if f.stale() && f.looking.TryLock() {
		f.lookAndLog()
		f.looking.Unlock()
	}
	return f.current.Load()
}

// getNewer looks at once, for a caller that did not find its key in old; it reports whether there is anything new.
func (f *watchedFile[T]) getNewer(old *T) (*T, bool) {
	f.looking.Lock()
	defer f.looking.Unlock()
	if f.current.Load() == old && f.mayHurry() {
		f.lookAndLog()
	}
	current := f.current.Load()
	return current, current != old
}

func (f *watchedFile[T]) stale() bool {
	age := f.options.now().Sub(*f.lastLook.Load())
	return age >= lookInterval || age < 0 // a clock that was set back must not stop us from looking
}

// mayHurry counts looks out of turn. The caller holds the lock.
func (f *watchedFile[T]) mayHurry() bool {
	now := f.options.now()
	if age := now.Sub(f.window); age >= lookInterval || age < 0 {
		f.window, f.hasty = now, 0
	}
	f.hasty++
	return f.hasty <= hastyLooks
}

// lookAndLog looks, and says each new trouble and each recovery once. The caller holds the lock.
func (f *watchedFile[T]) lookAndLog() {
	before := f.current.Load()
	err := f.look()
	switch {
	case err != nil && err.Error() != f.trouble:
		f.trouble = err.Error()
		f.options.log.Error("key file refused, the previous keys stay in use", "path", f.path, "error", err)
	case err == nil && f.current.Load() != before:
		f.trouble = ""
		f.options.log.Info("key file read again", "path", f.path)
	case err == nil:
		f.trouble = ""
	}
}

// look reads the file, and parses it where its content is not the one in use.
func (f *watchedFile[T]) look() error {
	now := f.options.now()
	f.lastLook.Store(&now)
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
	defer func() { _ = file.Close() }() // only read from
	content, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFileBytes {
		return nil, &os.PathError{Op: "read keys", Path: path, Err: errFileTooLarge}
	}
	return content, nil
}
