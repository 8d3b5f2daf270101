package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/file"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Limits on the parts of a form other than files.
const (
	maxFormParts = 50
	maxFieldSize = 16 << 10 // bytes; the longest field has 4,000 characters
)

// upload stores the files of a form as they arrive. The other fields may come after them, so the files become visible
// only when the whole form has been read.
func (f *Files) upload(w http.ResponseWriter, request *http.Request, kind file.Kind, wrapped bool) error {
	ctx, err := f.RateLimits.AdmitRequest(request.Context(), request.Header)
	if err != nil {
		return err
	}
	if f.Record != nil {
		ctx = f.Record(ctx, edge.Procedure(ctx))
	}
	ctx, cancel := context.WithTimeout(ctx, f.Files.UploadTimeout)
	defer cancel()
	body := edge.NewStreamBody(w, request)
	parts, err := newPartReader(request, body)
	if err != nil {
		return err
	}
	upload, err := f.Files.StartUpload(ctx, kind)
	if err != nil {
		return err
	}
	defer upload.Abort(ctx)
	form, digest, err := readForm(ctx, upload, parts)
	if err != nil {
		return err
	}
	body.ClearDeadline()
	finish := func(ctx context.Context) ([]*plazav1.File, error) { return upload.Finish(ctx, form) }
	files, err := f.Once(ctx, request.Header, w.Header(), edge.Procedure(ctx), digest, finish)
	if err != nil {
		return err
	}
	return writeFiles(w, files, wrapped)
}

var errNotForm = errors.New("the body is not multipart/form-data")

func newPartReader(request *http.Request, body io.Reader) (*multipart.Reader, error) {
	mediaType, parameters, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	boundary := parameters["boundary"]
	if err != nil || mediaType != "multipart/form-data" || boundary == "" || len(boundary) > 70 {
		return nil, fail.Validation("body: must be multipart/form-data with a boundary").Because(errNotForm)
	}
	return multipart.NewReader(body, boundary), nil
}

// readForm reads the whole form, and returns a digest of its parts. A truncated form is an error.
func readForm(ctx context.Context, upload *file.Upload, parts *multipart.Reader) (form file.Form, digest []byte, err error) {
	field := "" // the name of the files' field
	all := sha256.New()
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return form, all.Sum(nil), nil
		case err != nil:
			return form, nil, formError(err)
		case n == maxFormParts:
			return form, nil, fail.Validation(fmt.Sprintf("body: must be at most %d parts", maxFormParts))
		}
		if name := fieldName(part); isFile(name) {
			if field != "" && field != name {
				return form, nil, fail.Validation(name + ": must not be combined with " + field)
			}
			field = name
		}
		content := sha256.New()
		if err := readPart(ctx, upload, &form, part, io.TeeReader(part, content)); err != nil {
			return form, nil, formError(err)
		}
		_, _ = fmt.Fprintf(all, "%q %q %x\n", part.FormName(), part.FileName(), content.Sum(nil)) // a hash never fails
	}
}

// formError returns err as an error of the interface: a bad request if the form is malformed.
func formError(err error) error {
	if _, ok := errors.AsType[*fail.Error](err); ok {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || strings.HasPrefix(err.Error(), "multipart: ") ||
		strings.HasPrefix(err.Error(), "malformed MIME header") {
		return fail.BadRequest().Because(err)
	}
	return err
}

// fieldName returns the field name of a part, without the brackets of a list.
func fieldName(part *multipart.Part) string { return strings.TrimSuffix(part.FormName(), "[]") }

// isFile reports whether name is one of the two names for files. A form may use only one of them.
func isFile(name string) bool { return name == "file" || name == "files" }

// readPart reads a part from content.
func readPart(ctx context.Context, upload *file.Upload, form *file.Form, part *multipart.Part, content io.Reader) error {
	name := fieldName(part)
	if isFile(name) {
		return upload.Add(ctx, part.FileName(), content)
	}
	field := map[string]*string{
		"accessType": &form.AccessType, "feedType": &form.FeedType, "preferredFilename": &form.PreferredName, "altText": &form.AltText,
	}[name]
	text, err := io.ReadAll(io.LimitReader(content, maxFieldSize+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxFieldSize:
		return fail.Validation(fmt.Sprintf("%s: must be at most %d bytes", name, maxFieldSize))
	case field != nil:
		*field = string(text)
	}
	return nil
}

// parseQuery parses a query, ignoring malformed parameters.
func parseQuery(raw string) url.Values {
	values, _ := url.ParseQuery(raw)
	return values
}
