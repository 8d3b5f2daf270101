package file

import (
	"io"
	"sync"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/store/network"
)

// uploading are the bytes of the uploads in progress on this server, by the id of the user.
type uploading struct {
	mu    sync.Mutex
	bytes map[string]int64
}

// add adds to the bytes of a user and returns them.
func (u *uploading) add(userID string, n int64) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bytes == nil {
		u.bytes = map[string]int64{}
	}
	left := u.bytes[userID] + n
	u.bytes[userID] = left
	if left == 0 {
		delete(u.bytes, userID)
	}
	return left
}

// arriving is the content of a file whose bytes count towards the quota of its owner as they arrive. Otherwise parallel uploads could
// fill the storage before the first one is refused.
type arriving struct {
	io.Reader
	upload *Upload
}

// Read implements io.Reader.
func (a arriving) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if refused := a.upload.receive(int64(n)); refused != nil {
		return 0, refused
	}
	return n, err
}

// receive counts bytes of the upload. It returns an error if they exceed the quota of the owner together with those of today and of the
// other uploads in progress.
func (u *Upload) receive(n int64) error {
	if u.owner == nil || defence.Off(defence.UploadQuota) {
		return nil
	}
	u.received += n
	inProgress := u.service.uploading.add(u.owner.ID, n)
	return u.service.QuotaAllows(network.UsageUploadBytes, u.used+inProgress)
}

// depart ends the count of the bytes of the upload.
func (u *Upload) depart() {
	if u.owner != nil && u.received > 0 {
		u.service.uploading.add(u.owner.ID, -u.received)
		u.received = 0
	}
}

// usedBytes returns how much a user has uploaded today.
func usedBytes(usages []network.DailyUsage) int64 {
	for _, u := range usages {
		if u.Kind == network.UsageUploadBytes {
			return u.Used
		}
	}
	return 0
}
