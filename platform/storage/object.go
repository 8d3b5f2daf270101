package storage

import (
	"io"

	"gocloud.dev/blob"
)

// object is a stored object with random access. It keeps the offset itself: seeking is free until the next read and, as
// in a file, may go beyond the end.
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
