package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// partArchive is the object that contains the archive.
const partArchive = "archive.zip"

// renewInterval is the interval at which packing renews its lease.
const renewInterval = 20 * time.Second

// pack writes the archive, and deletes the parts. A server that dies leaves the export to another one, which packs it
// again.
func (s *Service) pack(ctx context.Context, e *lifecycle.Export, job *steps.Job) error {
	e.State = lifecycle.ExportPacking
	if err := job.Renew(ctx); err != nil {
		return err
	}
	p := &packer{Service: s, export: e, job: job, renewed: s.Now()}
	reader, writer := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = writer.CloseWithError(p.write(ctx, writer)) // never fails
	}()
	size, err := s.storage.Write(ctx, e.ID, partArchive, reader)
	_ = reader.Close() // never fails, and ends the goroutine
	<-done
	if err != nil {
		return err
	}
	now := s.Now()
	e.State, e.Bytes, e.FinishedAt, e.DueAt = lifecycle.ExportReady, size, &now, now.Add(keptFor)
	if err := s.save(ctx, e); err != nil {
		return err
	}
	s.Log.InfoContext(ctx, "user exported", "export", e.ID, "bytes", size)
	if err := s.deleteParts(ctx, e); err != nil {
		s.Log.WarnContext(ctx, "parts of an export were left to its end", "export", e.ID, "error", err)
	}
	return nil // an error would let the export end after the next attempt instead of after a week
}

// deleteParts deletes the objects other than the archive. Those that remain are deleted with the archive.
func (s *Service) deleteParts(ctx context.Context, e *lifecycle.Export) error {
	parts, err := s.storage.Parts(ctx, e.ID, "rows-")
	for _, part := range parts {
		err = errors.Join(err, s.storage.Delete(ctx, e.ID, part))
	}
	return err
}

// packer writes one archive.
type packer struct {
	*Service
	export  *lifecycle.Export
	job     *steps.Job
	archive *zip.Writer
	renewed time.Time
}

func (p *packer) write(ctx context.Context, to io.Writer) error {
	buffered := bufio.NewWriterSize(to, 64<<10)
	p.archive = zip.NewWriter(buffered)
	if err := p.writeReadme(); err != nil {
		return err
	}
	for _, table := range lifecycle.ExportTables {
		if err := p.writeRows(ctx, table.Name); err != nil {
			return err
		}
	}
	if err := p.eachRow(ctx, "files", p.writeFile); err != nil {
		return err
	}
	return errors.Join(p.archive.Close(), buffered.Flush())
}

const readme = `The data of the user %s, exported at %s.

Each file NAME.json is a list of rows in JSON:

%s
files/ contains the uploaded files, named by their id and original name.
`

func (p *packer) writeReadme() error {
	var list strings.Builder
	counts := steps.Counts(p.export.Exported)
	for _, table := range lifecycle.ExportTables {
		if n := counts[table.Name]; n > 0 {
			fmt.Fprintf(&list, "%9d  %s.json\n", n, table.Name)
		}
	}
	w, err := p.create("README.txt", zip.Deflate)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, readme, p.export.PublicID, p.Now().UTC().Format(time.RFC3339), &list)
	return err
}

func (p *packer) create(name string, method uint16) (io.Writer, error) {
	return p.archive.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: p.Now()})
}

// writeRows writes the rows of a kind as a JSON array, if there are any.
func (p *packer) writeRows(ctx context.Context, kind string) error {
	if steps.Counts(p.export.Exported)[kind] == 0 {
		return nil
	}
	w, err := p.create(kind+".json", zip.Deflate)
	if err != nil {
		return err
	}
	separator := "[\n"
	err = p.eachRow(ctx, kind, func(_ context.Context, row []byte) error {
		_, err := fmt.Fprintf(w, "%s%s", separator, row)
		separator = ",\n"
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n]\n")
	return err
}

// eachRow calls f for each row of a kind, in order.
func (p *packer) eachRow(ctx context.Context, kind string, f func(ctx context.Context, row []byte) error) error {
	parts, err := p.storage.Parts(ctx, p.export.ID, partPrefix(kind))
	if err != nil {
		return err
	}
	for _, part := range parts {
		if !strings.HasSuffix(part, partSuffix) {
			continue // the remains of an interrupted write
		}
		rows, err := p.readPart(ctx, part)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := errors.Join(p.renew(ctx), f(ctx, row)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *packer) readPart(ctx context.Context, part string) ([][]byte, error) {
	from, err := p.storage.Open(ctx, p.export.ID, part)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(from) // a page of rows
	return bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n")), errors.Join(err, from.Close())
}

// writeFile writes the content of an uploaded file. Files that were deleted in the meantime are left out.
func (p *packer) writeFile(ctx context.Context, row []byte) error {
	var file struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal(row, &file); err != nil {
		return err
	}
	from, err := p.storage.Open(ctx, file.ID, storage.PartFull)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // was only read
	w, err := p.create("files/"+file.ID+"-"+safeName(file.Name), zip.Store)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, &renewingReader{from, func() error { return p.renew(ctx) }})
	return err
}

// safeName returns a name without folders, for an archive.
func safeName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == ".." || name == "/" {
		return "file"
	}
	return name
}

// renew renews the lease if it is time to.
func (p *packer) renew(ctx context.Context) error {
	if p.Now().Sub(p.renewed) < renewInterval {
		return nil
	}
	p.renewed = p.Now()
	return p.job.Renew(ctx)
}

// renewingReader calls renew before each read.
type renewingReader struct {
	from  io.Reader
	renew func() error
}

// Read implements io.Reader.
func (r *renewingReader) Read(b []byte) (int, error) {
	if err := r.renew(); err != nil {
		return 0, err
	}
	return r.from.Read(b)
}
