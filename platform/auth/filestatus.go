package auth

import "time"

// FileStatus describes a key file without its secrets: when the keys in use were loaded and whether the file is valid
// now.
type FileStatus struct {
	Keys      []KeyInfo // in the order of the file, expired keys included
	LoadedAt  time.Time // when the content in use was read
	CheckedAt time.Time // when the file was last read successfully
	Error     string    // why the last read failed; the previous keys stay in use
}

// Status returns the state of the file. It re-reads the file unless it was read within the last second, and waits for a
// read in progress.
func (f *watchedFile[K]) Status() FileStatus {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.stale() {
		f.refreshAndLog()
	}
	return FileStatus{Keys: infosOf(*f.current.Load()), LoadedAt: f.loaded, CheckedAt: f.checked, Error: f.lastError}
}

// Info returns the description of the key called id, and false if the file does not have it.
func (s FileStatus) Info(id string) (KeyInfo, bool) {
	for _, key := range s.Keys {
		if key.ID == id {
			return key, true
		}
	}
	return KeyInfo{}, false
}
