package storage

import (
	"io"

	"gocloud.dev/blob"
)

// object is a stored object to read at will. It keeps the position itself: to seek costs nothing before the next read, and
// may go beyond the end, as in a file.
type object struct {
	stored *blob.Reader
	offset int64
}

func (o *object) Read(p []byte) (int, error) {
	if o.offset >= o.stored.Size() {
		return 0, io.EOF
	}
	if _, err := o.stored.Seek(o.offset, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := o.stored.Read(p)
	o.offset += int64(n)
	return n, err
}

func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.stored.Size()
	}
	if offset < 0 {
		return o.offset, errNegative
	}
	o.offset = offset
	return offset, nil
}

func (o *object) Close() error { return o.stored.Close() }
