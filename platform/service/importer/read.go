package importer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxLine is the maximum length of a line in bytes. It is more than the longest request of the API takes.
const maxLine = 1 << 20

var errLongLine = fmt.Errorf("the line is too long: it must have at most %d bytes", maxLine)

// Import imports the lines of a file from a line number on; the first line has the number 1. It returns how far it is, also
// with an error. An error of type *LineError is one of the file; after others, the import may be continued.
func (i *Importer) Import(ctx context.Context, name string, file io.Reader, from int64) (Progress, error) {
	i.progress.File, i.progress.Line = name, max(from, 1)-1
	i.batch, i.bytes = nil, 0
	lines := bufio.NewReaderSize(file, maxLine+1)
	for number := int64(1); ; number++ {
		if err := ctx.Err(); err != nil {
			return i.progress, err
		}
		raw, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF):
			err = i.flush(ctx)
			return i.progress, err
		case errors.Is(err, errLongLine):
		case err != nil:
			return i.progress, fmt.Errorf("read %s: %w", name, err)
		}
		if number < from || err == nil && len(raw) == 0 {
			continue
		}
		if err := i.addLine(ctx, number, raw, err); err != nil {
			return i.progress, err
		}
	}
}

// addLine adds a line to the batch. A line that is not a row ends the batch.
func (i *Importer) addLine(ctx context.Context, number int64, raw []byte, err error) error {
	var r *row
	if err == nil {
		r, err = i.parse(number, raw)
	}
	if err == nil {
		return i.add(ctx, r)
	}
	if err := i.flush(ctx); err != nil {
		return err
	}
	if err := i.reject(number, raw, err); err != nil {
		return err
	}
	i.progress.Line = number
	return nil
}

// readLine returns the next line without the space around it. It returns errLongLine, and the beginning of the line, for one
// that is too long, and io.EOF after the last line.
func readLine(lines *bufio.Reader) ([]byte, error) {
	part, err := lines.ReadSlice('\n')
	line := bytes.Clone(bytes.TrimSpace(part))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return line, errLongLine
	case errors.Is(err, io.EOF) && len(part) > 0, err == nil:
		return line, nil
	}
	return nil, err
}
