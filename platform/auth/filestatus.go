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

// Status returns the state of the file. It re-reads the file unless it was read within the last second.
func (s *KeySet) Status() FileStatus {
	status, keys := s.file.status()
	for _, key := range *keys {
		status.Keys = append(status.Keys, key.KeyInfo)
	}
	return status
}

// Status returns the state of the file. It re-reads the file unless it was read within the last second.
func (r *Keyring) Status() FileStatus {
	status, keys := r.file.status()
	for _, key := range *keys {
		status.Keys = append(status.Keys, key.KeyInfo)
	}
	return status
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

// ParseKeyring returns the signing keys in content, such as those of a Secret. They are never re-read.
func ParseKeyring(content []byte) (*Keyring, error) {
	f := &watchedFile[signingKeys]{path: "(memory)", read: func() ([]byte, error) { return content, nil }, parse: parseKeyring}
	file, err := f.open(nil)
	if err != nil {
		return nil, err
	}
	return &Keyring{file: file}, nil
}

// status re-reads the file if the last read is old and returns its state. It waits for a read in progress.
func (f *watchedFile[T]) status() (FileStatus, *T) {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.stale() {
		f.refreshAndLog()
	}
	return FileStatus{LoadedAt: f.loaded, CheckedAt: f.checked, Error: f.lastError}, f.current.Load()
}
