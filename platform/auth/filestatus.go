package auth

import "time"

// FileStatus is what may be told about a file of keys: how fresh what is in use is, and what is wrong with the file now.
type FileStatus struct {
	Keys      []KeyInfo // in the order of the file, those past their not-after time too
	LoadedAt  time.Time // when the content in use was taken
	CheckedAt time.Time // the last look at the file that went well
	Error     string    // why the last look failed; the keys before stay in use
}

// Status returns the state of the file after a fresh look, unless the last one is younger than a second.
func (s *KeySet) Status() FileStatus {
	status, keys := s.file.status()
	for _, key := range *keys {
		status.Keys = append(status.Keys, key.KeyInfo)
	}
	return status
}

// Status returns the state of the file after a fresh look, unless the last one is younger than a second.
func (r *Keyring) Status() FileStatus {
	status, keys := r.file.status()
	for _, key := range *keys {
		status.Keys = append(status.Keys, key.KeyInfo)
	}
	return status
}

// Info returns what may be told about the key called id, if the file has it.
func (s FileStatus) Info(id string) (KeyInfo, bool) {
	for _, key := range s.Keys {
		if key.ID == id {
			return key, true
		}
	}
	return KeyInfo{}, false
}

// ParseKeyring reads signing keys that are in memory, such as those of a Secret, and never looks again.
func ParseKeyring(content []byte) (*Keyring, error) {
	f := &watchedFile[signingKeys]{path: "(memory)", read: func() ([]byte, error) { return content, nil }, parse: parseKeyring}
	file, err := f.open(nil)
	if err != nil {
		return nil, err
	}
	return &Keyring{file: file}, nil
}

// status looks at the file where the last look is old, and tells what is known of it. It waits for a look that is under
// way.
func (f *watchedFile[T]) status() (FileStatus, *T) {
	f.looking.Lock()
	defer f.looking.Unlock()
	if f.stale() {
		f.lookAndLog()
	}
	return FileStatus{LoadedAt: f.loaded, CheckedAt: f.checked, Error: f.trouble}, f.current.Load()
}
